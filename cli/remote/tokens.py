"""The tokens of servers: each is kept for one origin, and sent to no other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from cli.errors import BadUsage, CommandError
from cli.remote.addresses import is_protected
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.private import private_data_folder
from runtime.keychain.access_token import LONGEST, SHORTEST, VARIABLE

FILE: Final = "servers.json"
_LIMIT: Final = 1024 * 1024
"""Bytes of the file."""


class KeptToken(BaseModel):
    """The token of a server.

    Attributes:
        token: what requests to it carry.
        insecure: whether the user allowed that it is sent without TLS.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    token: str = Field(repr=False)
    insecure: bool = False


class _Kept(RootModel[dict[str, KeptToken]]):
    model_config = ConfigDict(hide_input_in_errors=True)


class ServerTokens:
    """The tokens of servers in a file that its owner alone can read.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._path = data / FILE

    def all(self) -> dict[str, KeptToken]:
        """The tokens by origin.

        Raises:
            CommandError: the file cannot be read.
        """
        try:
            if self._path.stat().st_mode & 0o077:
                self._path.chmod(0o600)
            return _Kept.model_validate_json(read_regular(self._path, _LIMIT)).root
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError):
            raise _unavailable("read") from None

    def keep(self, origin: str, kept: KeptToken) -> None:
        """Keep the token of a server; an earlier one is replaced."""
        self._write({**self.all(), origin: kept})

    def forget(self, origin: str) -> bool:
        """Forget the token of a server; returns whether there was one."""
        kept = self.all()
        if kept.pop(origin, None) is None:
            return False
        self._write(kept)
        return True

    def _write(self, kept: dict[str, KeptToken]) -> None:
        text = json.dumps({origin: one.model_dump() for origin, one in sorted(kept.items())}, indent=2)
        try:
            private_data_folder(self._data)
            write_atomically(self._path, text.encode())
        except OSError:
            raise _unavailable("written") from None


def token_for(origin: str, tokens: ServerTokens) -> str:
    """The token that requests to a server carry: `WIREWRIGHT_TOKEN`, or the one that is kept for this origin.

    Args:
        origin: the server.
        tokens: those that are kept.

    Raises:
        BadUsage: it would be sent in the clear.
        CommandError: there is none.
    """
    kept = tokens.all().get(origin)
    if not is_protected(origin) and not (kept is not None and kept.insecure):
        raise insecure(origin, "--server")
    given = os.environ.get(VARIABLE)
    if given:
        return checked(given, VARIABLE)
    if kept is None:
        fix = f"Sign in: wirewright login {origin}"
        raise CommandError("not_signed_in", f"There is no token for {origin}.", fix=fix, where="--server")
    return kept.token


def checked(token: str, where: str) -> str:
    """A token that a header can have.

    Raises:
        BadUsage: it is not one.
    """
    token = token.strip()
    if SHORTEST <= len(token) <= LONGEST and token.isascii() and token.isprintable() and " " not in token:
        return token
    message = f"A token has {SHORTEST} to {LONGEST} letters, digits and signs, without spaces."
    fix = "`wirewright token` prints the one of a server on its own machine, `wirewright users add` those of its users."
    raise BadUsage("bad_token", message, fix=fix, where=where)


def insecure(origin: str, where: str) -> BadUsage:
    """The error for a server to which a token would be sent without TLS."""
    fix = f"Use https, or allow it for this server: wirewright login {origin} --insecure"
    return BadUsage("insecure_server", f"Everybody on the way to {origin} could read the token.", fix=fix, where=where)


def _unavailable(what: str) -> CommandError:
    fix = f"Check the file {FILE} in the data folder, or remove it and sign in again."
    return CommandError("tokens_unavailable", f"The tokens of servers cannot be {what}.", fix=fix)
