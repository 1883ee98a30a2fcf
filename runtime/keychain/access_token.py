"""The token that requests to the server carry: one for each installation, in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from runtime.database.errors import StoreUnavailable
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.private import private_data_folder

VARIABLE: Final = "WIREWRIGHT_TOKEN"
"""The environment variable that replaces the file."""
FILE: Final = "token"
BYTES: Final = 32
"""Random bytes of a token that is made."""
SHORTEST: Final = 32
LONGEST: Final = 512
"""Characters that a token may have."""


class TokenUnavailable(StoreUnavailable):
    """The token cannot be read or made, or is none that can protect anything."""


def access_token(data: Path) -> str:
    """The token of this installation; made when there is none yet. It blocks for a moment.

    Args:
        data: the data folder.

    Raises:
        TokenUnavailable: it cannot be read or made, or is too weak.
    """
    path = data / FILE
    if not os.environ.get(VARIABLE) and not path.exists() and not path.is_symlink():
        try:
            private_data_folder(data)
            write_atomically(path, secrets.token_urlsafe(BYTES).encode("ascii"), overwrite=False)
        except OSError:
            raise TokenUnavailable(
                "The token of this installation cannot be written.", "Check the data folder and its permissions."
            ) from None
    found = known_token(data)
    if found is None:
        raise _unreadable()
    return found


def known_token(data: Path) -> str | None:
    """The token of this installation; None when none was made yet.

    Args:
        data: the data folder.

    Raises:
        TokenUnavailable: it cannot be read, or is too weak.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return _checked(given.strip(), f"Set {VARIABLE} to {SHORTEST} or more random letters and digits.")
    path = data / FILE
    try:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        text = read_regular(path, LONGEST + 2).decode("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise _unreadable() from None
    return _checked(text.strip(), f"Remove the file {FILE} in the data folder; the next start makes another one.")


def _checked(token: str, fix: str) -> str:
    if not SHORTEST <= len(token) <= LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise TokenUnavailable(f"The token has fewer than {SHORTEST} characters, or some that no header can have.", fix)
    return token


def _unreadable() -> TokenUnavailable:
    fix = f"Restore the file {FILE} in the data folder, or remove it; the next start makes another one."
    return TokenUnavailable("The token of this installation cannot be read.", fix)
