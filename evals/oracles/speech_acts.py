"""Whether an answer asks or declines something, in English, German, French, Spanish and Portuguese."""

from __future__ import annotations

import re

_DECLINES = re.compile(
    r"\b(?:can ?not|can['’]t|could ?n['’]t|could not|unable to|not able to|not possible|impossible|won['’]t|will not"
    r"|do(?:es)? ?n['’]t (?:have|support|know)|do(?:es)? not (?:have|support|know)|there is no|outside (?:of )?what"
    r"|only help with|sorry"
    r"|kann (?:ich )?(?:das |dies |dir |ihnen )?(?:leider )?(?:nicht|kein\w*)|nicht möglich|unmöglich"
    r"|geht (?:leider )?nicht|leider"
    r"|ne (?:peux|peut|puis|pouvons) pas|n['’]est pas possible|impossible|désolée?"
    r"|no (?:puedo|puede|podemos|es posible)|imposible|lo siento"
    r"|não (?:posso|pode|podemos|consigo|é possível)|impossível|desculpe)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"\n]*\"|'[^'\n]*\?[^'\n]*'|«[^»]*»")


def asks(text: str) -> bool:
    """Whether a text asks something: it has a question mark outside quotes and URLs."""
    return re.search(r"[?？]", re.sub(r"https?://\S+", "", _QUOTED.sub("", text))) is not None


def declines(text: str) -> bool:
    """Whether a text says that something cannot or will not be done."""
    return _DECLINES.search(text) is not None
