"""Brings the line numbers in docs/twelve-factors.md up to date: each place there quotes its line.

python -m scripts.twelve_factors
"""

import re
import sys
from pathlib import Path

from scripts.checkout import ROOT

PAGE = ROOT / "docs" / "twelve-factors.md"
PLACE = re.compile(r"\[(?P<path>[\w./-]+):\d+\]\(\.\./(?P=path)#L\d+\) `(?P<text>[^`]+)`")


class LostPlace(Exception):
    """What the page quotes does not stand on exactly one line of its file."""


def line_of(path: Path, text: str) -> int:
    """The number of the one line that contains a text.

    Raises:
        LostPlace: there is no such file, no such line, or more than one.
    """
    if not path.is_file():
        raise LostPlace(f"{path.relative_to(ROOT)} does not exist.")
    found = [number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line]
    if len(found) != 1:
        raise LostPlace(f"{path.relative_to(ROOT)} has {len(found)} lines with {text!r}. Quote one that has no twin.")
    return found[0]


def current(page: str) -> str:
    """A page with the numbers of the lines that it quotes.

    Raises:
        LostPlace: a place no longer exists.
    """

    def place(found: re.Match[str]) -> str:
        path, text = found["path"], found["text"]
        number = line_of(ROOT / path, text)
        return f"[{path}:{number}](../{path}#L{number}) `{text}`"

    return PLACE.sub(place, page)


def main() -> None:
    """Write the page anew."""
    try:
        PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    except LostPlace as lost:
        sys.exit(str(lost))


if __name__ == "__main__":
    main()
