"""Text for a terminal: lines are broken between words, and wide characters count as two columns."""

import re

from wcwidth import iter_graphemes
from wcwidth import width as cells

TAB = "    "

_MARKERS = re.compile(r"(?:[-+~*•>]|\d{1,3}[.)])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OPENING = frozenset("「『（《〈【〔［｛“‘")
_CLOSING = frozenset("」』）》〉】〕］｝”’、。，．！？；：…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")


class Wrapper:
    """Breaks a text that comes piece by piece.

    A line that begins with spaces or a list marker continues below its text. A word that is longer than a line is the
    only one that is broken. Control characters, which could steer the terminal, are left out.

    Args:
        width: how many columns there are.
    """

    def __init__(self, width: int) -> None:
        self._width = max(width, 1)
        self._begin_line()

    def feed(self, text: str) -> str:
        """What can be written after this piece; the last word is held back until it is complete.

        Args:
            text: the piece.
        """
        written: list[str] = []
        for grapheme in iter_graphemes(plain(text)):
            if grapheme == "\n":
                written += [self._place_word(), "\n"]
                self._begin_line()
            elif grapheme == " ":
                written.append(self._place_word())
                self._spaces += 1
            else:
                if self._word and not _belongs(self._word[-1], grapheme):
                    written.append(self._place_word())
                self._word.append(grapheme)
        return "".join(written)

    def end(self) -> str:
        """What is left to be written."""
        return self._place_word()

    def _begin_line(self) -> None:
        self._column = self._hang = self._spaces = 0
        self._word: list[str] = []
        self._starts = True

    def _place_word(self) -> str:
        """The word that is complete, on this line if it fits there, else on the next."""
        if not self._word:
            return ""
        word, size = "".join(self._word), sum(map(cells, self._word))
        if self._starts:
            self._hang = self._spaces if self._spaces < self._width // 2 else 0
        if size <= self._width:
            self._hang = min(self._hang, self._width - size)  # rather less indentation than a broken word
        if self._starts:
            self._spaces = self._hang
        if self._column + self._spaces + size <= self._width:
            placed = " " * self._spaces + word
            self._column += self._spaces + size
        elif self._hang + size <= self._width and not self._starts:
            placed = self._next_line() + word
            self._column += size
        else:
            placed = self._broken()
        if self._starts and _MARKERS.fullmatch(word) and self._hang + size + 1 < self._width // 2:
            self._hang += size + 1
        self._word, self._spaces, self._starts = [], 0, False
        return placed

    def _next_line(self) -> str:
        self._column = self._hang
        return "\n" + " " * self._hang

    def _broken(self) -> str:
        """A word that is longer than a line, from a line of its own on."""
        placed = " " * self._spaces if self._starts else self._next_line()
        self._column = self._hang
        for grapheme in self._word:
            size = cells(grapheme)
            if self._column + size > self._width and self._column > self._hang:
                placed += self._next_line()
            placed += grapheme
            self._column += size
        return placed


def wrapped(text: str, width: int) -> str:
    """A text with its lines broken to fit a width.

    Args:
        text: the text, of any number of lines.
        width: how many columns there are.
    """
    wrapper = Wrapper(width)
    return wrapper.feed(text) + wrapper.end()


def plain(text: str) -> str:
    """A text without control characters but line ends; tabs become spaces."""
    return _CONTROLS.sub("", text.replace("\t", TAB).replace("\r\n", "\n"))


def _belongs(before: str, grapheme: str) -> bool:
    """Whether no line may end between two graphemes."""
    if grapheme in _CLOSING or before in _OPENING:
        return True
    return cells(grapheme) == 0 or (cells(before) < 2 and cells(grapheme) < 2)
