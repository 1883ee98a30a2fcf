"""Texts that the command line names: a file, or standard input for `-`."""

import sys
from dataclasses import dataclass
from pathlib import Path

from cli.errors import BadUsage
from runtime.files.texts import TEXT_LIMIT, TextRefused, read_text, text_of, unreadable

STANDARD_INPUT = "-"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A text, and what the user called it."""

    name: str
    text: str

    @property
    def is_json(self) -> bool:
        """Whether the text looks like JSON; anything else is spec text."""
        return self.text.lstrip().startswith(("{", "["))


def read(name: str, *, limit: int = TEXT_LIMIT) -> Source:
    """Read a file, or standard input for `-`.

    Args:
        name: what the user called it.
        limit: how many bytes it may have.

    Raises:
        BadUsage: it cannot be read, is too large, or is not text.
    """
    try:
        text = _typed(limit) if name == STANDARD_INPUT else read_text(Path(name), limit)
    except TextRefused as refused:
        raise bad_text(name, refused) from None
    return Source(name=source_name(name), text=text)


def bad_text(name: str, refused: TextRefused, where: str | None = None) -> BadUsage:
    """The error for a text that cannot be read.

    Args:
        name: what the user called it.
        refused: why.
        where: the option that names it, if not the name itself.
    """
    fix = refused.fix.removesuffix(".") + ", or - for standard input." if refused.fix in _NAMING else refused.fix
    fix = refused.fix if where is not None else fix
    return BadUsage(refused.code, f"{source_name(name)} {refused.reason}.", fix=fix, where=where or source_name(name))


def source_name(name: str) -> str:
    """How messages name a source."""
    return "standard input" if name == STANDARD_INPUT else name


_NAMING = frozenset({"Name an existing file.", "Name a file."})


def _typed(limit: int) -> str:
    try:
        return text_of(sys.stdin.buffer, limit)
    except OSError as failure:
        raise unreadable(failure) from None
