"""The beginning of a text, on one line, without cutting a letter from its marks or an emoji in two."""

import unicodedata

_JOINER = "\u200d"
_SKIN = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)


def shortened(text: str, most: int) -> str:
    """Return the words of a text, with an ellipsis where they are more than so many characters.

    Args:
        text: the text.
        most: how many characters it may have.
    """
    words = " ".join(text.split())
    if len(words) <= most:
        return words
    end = most
    while end > 0 and _belong_together(words, end):
        end -= 1
    return f"{words[: end or most].rstrip()}…"


def _belong_together(text: str, at: int) -> bool:
    """Whether the characters before and behind a place are one letter to a reader (after Unicode's UAX 29)."""
    before, behind = text[at - 1], text[at]
    if _JOINER in (before, behind) or ord(behind) in _SKIN or unicodedata.category(behind).startswith("M"):
        return True
    flags = 0
    while flags < at and ord(text[at - 1 - flags]) in _FLAGS:
        flags += 1
    return ord(behind) in _FLAGS and flags % 2 == 1
