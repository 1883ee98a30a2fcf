"""Rows of cells as lines that fit: cells stand in columns, and the last one wraps between words."""

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from cli.output.streams import print_result, terminal_width

GAP = "  "
_LABEL = re.compile(r"\s*(?:\S+ {2,})?")
"""What a line begins with that stays as it is: its indentation, and a label that is set apart by more than a space."""
UNSIZED = 80
"""The columns of a terminal that does not say how many it has."""
FIRST_LIMIT = 0.45
"""The share of the width that the columns before the last may take; a longer row breaks after them."""


def output_width() -> int | None:
    """How wide lines on standard output may be: as its terminal, else as COLUMNS says; None when it goes elsewhere.

    COLUMNS comes second: a shell may have exported it before the window was made narrower.
    """
    said = os.environ.get("COLUMNS", "")
    unknown = int(said) if said.isdecimal() else UNSIZED if sys.stdout.isatty() else None
    width = terminal_width(sys.stdout) or unknown
    return None if width is None else max(20, width)


def print_rows(rows: Iterable[Sequence[str]], *, indent: str = "") -> None:
    """Write rows on standard output; in a pipe each is one line, so that other programs can read them.

    Args:
        rows: their cells; every row has as many.
        indent: what each line begins with.
    """
    for line in rows_as_lines(list(rows), output_width(), indent=indent):
        print_result(line)


def print_lines(text: str, *, hanging: str = "    ") -> None:
    """Write one line on standard output; where it does not fit a terminal, its rest is indented."""
    width = output_width()
    if width is None or cell_width(text) <= width:
        print_result(text)
        return
    label = _LABEL.match(text)
    lead = "" if label is None else label[0]
    for line in wrapped(text[len(lead) :], width, indent=hanging, first=lead):
        print_result(line)


def rows_as_lines(rows: Sequence[Sequence[str]], width: int | None, *, indent: str = "") -> list[str]:
    """Rows as lines.

    Args:
        rows: their cells; every row has as many.
        width: how wide a line may be; None for no limit.
        indent: what each line begins with.
    """
    if not rows:
        return []
    *fixed, _ = zip(*rows, strict=True)
    widths = [max(cell_width(cell) for cell in column) for column in fixed]
    if width is not None and len(widths) == 1:
        widths[0] = max((w for row in rows if (w := cell_width(row[0])) <= width * FIRST_LIMIT), default=0)
    start = len(indent) + sum(widths) + len(GAP) * len(widths)
    lines: list[str] = []
    for row in rows:
        head = GAP.join(cell + " " * (w - cell_width(cell)) for cell, w in zip(row, widths, strict=False))
        head = indent + head + (GAP if widths else "")
        if width is None:
            lines.append((head + row[-1]).rstrip())
        elif cell_width(head) > start or width - start < width // 4:
            lines.append(head.rstrip())
            lines += wrapped(row[-1], width, indent=" " * min(start, len(indent) + 4))
        else:
            lines += wrapped(row[-1], width, indent=" " * start, first=head) or [head.rstrip()]
    return lines


def wrapped(text: str, width: int | None, *, indent: str = "", first: str | None = None) -> list[str]:
    """A text as lines that are broken between words, or between letters of scripts without spaces.

    Args:
        text: the text; runs of white space count as one space.
        width: how wide a line may be; None for no limit. A single longer word keeps its own line.
        indent: what each line begins with.
        first: what the first line begins with instead.
    """
    lines: list[str] = []
    line, empty = indent if first is None else first, True
    for piece, spaced in _pieces(text):
        gap = " " if spaced and not empty else ""
        if width is not None and not empty and cell_width(line) + len(gap) + cell_width(piece) > width:
            lines.append(line.rstrip())
            line, gap = indent, ""
        line, empty = line + gap + piece, False
    return lines if empty else [*lines, line.rstrip()]


def cell_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(letter) else 2 if _is_wide(letter) else 1 for letter in text)


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text that stay whole, each with whether a space stands before it."""
    for word in filter(None, re.split(r"[ \t\r\n]+", text)):
        spaced, piece = True, ""
        for letter in word:
            if piece and _is_wide(letter) and unicodedata.category(letter).startswith("L"):
                yield piece, spaced
                piece, spaced = "", False
            piece += letter
        yield piece, spaced


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"
