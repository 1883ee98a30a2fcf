"""What is said to a user while uv installs: how much is downloaded, of how much."""

from __future__ import annotations

import re
from typing import Self

_SIZES = {"B": 1e-6, "KiB": 1024 / 1e6, "MiB": 1024**2 / 1e6, "GiB": 1024**3 / 1e6}


class ProgressMessage(str):
    """A message for the user that also says how much is done.

    Attributes:
        share: between 0 and 1.
    """

    __slots__ = ("share",)
    share: float

    def __new__(cls, text: str, share: float) -> Self:
        """A text with its share."""
        made = super().__new__(cls, text)
        made.share = share
        return made


class SyncProgress:
    """Turns the lines that uv prints into messages. It prints a line when a large download begins and when it ends."""

    def __init__(self) -> None:
        self._sizes: dict[str, float] = {}
        self._finished = 0.0

    def message(self, line: str) -> str | None:
        """The message for the user about one line, or None."""
        if found := re.match(r"\s*Downloading (\S+) \(([\d.]+)\s*([KMG]?i?B)\)", line):
            self._sizes[found[1]] = float(found[2]) * _SIZES.get(found[3], 0.0)
            return self._downloads()
        if (found := re.match(r"\s*Downloaded (\S+)", line)) and found[1] in self._sizes:
            self._finished += self._sizes[found[1]]
            return self._downloads()
        if found := re.match(r"Prepared (\d+) packages?", line):
            return f"Installing the flow engine: {found[1]} packages downloaded"
        if found := re.match(r"Installed (\d+) packages?", line):
            return f"Installing the flow engine: {found[1]} packages installed"
        return None

    def _downloads(self) -> ProgressMessage:
        total = sum(self._sizes.values())
        text = f"Installing the flow engine: {self._finished:.0f} of {total:.0f} MB downloaded"
        return ProgressMessage(text, self._finished / total if total else 0.0)
