"""The encrypted files in which earlier versions kept variables and keys of model providers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["variables", "providers"]

FIRST_PROVIDERS: Final = "providers.enc"
"""The file of the first user's keys of providers; every other file is in a folder that is named by its kind."""
ENDING: Final = ".enc"
BACKUP: Final = ".bak"
"""What is added to the name of a file after it was taken over."""
EARLIER_KEYS: Final[dict[Kind, str]] = {"variables": "variables.key", "providers": "providers.key"}
"""The files of the keys that still earlier versions had for each."""


@dataclass(frozen=True)
class SecretFile:
    """A file of one user.

    Attributes:
        kind: what is in it.
        path: where it is.
        folder: the name of the user's folder; None for the first user.
    """

    kind: Kind
    path: Path
    folder: str | None


def earlier_files(data: Path) -> Iterator[SecretFile]:
    """The files that were not taken over; it costs three look-ups when there are none.

    Args:
        data: the data folder.
    """
    first = data / FIRST_PROVIDERS
    if first.is_file() and not first.is_symlink():
        yield SecretFile("providers", first, None)
    kinds: tuple[Kind, ...] = ("variables", "providers")
    for kind in kinds:
        folder = data / kind
        if folder.is_symlink() or not folder.is_dir():
            continue
        for path in sorted(folder.glob(f"*{ENDING}")):
            if path.is_file() and not path.is_symlink():
                yield SecretFile(kind, path, path.stem)


def has_earlier_files(data: Path) -> bool:
    """Whether anything of an earlier version is to be taken over from the data folder."""
    return (data / "conversations.sqlite").exists() or next(earlier_files(data), None) is not None
