"""Whether an answer is an inventory: it lists what the canvas holds, among which the right value happens to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from evals.replies.clauses import own_words
from flows.document import Flow

UNASKED: Final = 3
"""So many values of the canvas that were not asked for may stand in any answer."""
WORDS: Final = 3
"""With so many words for each value, an answer says something of them and does not only list them."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def unasked_values(answer: str, message: str, values: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The values that an answer lists although nothing asked for them; none if it says something of its values.

    An answer lists values when more than three of them were not asked for, and it has at most three words for each.

    Args:
        message: the user's message; what it has may be repeated.
        values: those of the canvas.
        wanted: what the answer must state: a value that has something of it was asked for.
    """
    own = own_words(answer, message).casefold()
    known = {value.strip().casefold() for value in values}
    asked = [each.casefold() for each in wanted]
    stated = sorted(value for value in known if len(value) > 1 and _stands(own, value))
    unasked = [
        value for value in stated if value not in message.casefold() and not any(each in value for each in asked)
    ]
    for value in sorted(stated, key=len, reverse=True):
        own = own.replace(value, " ")
    words = len(_WORD.findall(own)) + len(_UNSPACED.findall(own)) // 2
    return unasked if len(unasked) > UNASKED and words <= WORDS * len(stated) else []


def canvas_texts(flow: Flow) -> frozenset[str]:
    """The texts that fields of a flow hold, code apart."""
    fields = (item for node in flow.components for item in node.template.items())
    values = (field.get("value") for name, field in fields if name != "code")
    return frozenset(value for value in values if isinstance(value, str) and value)


def _stands(text: str, value: str) -> bool:
    begin = r"(?<!\w)" if value[0].isalnum() else ""
    end = r"(?!\w)" if value[-1].isalnum() else ""
    return re.search(f"{begin}{re.escape(value)}{end}", text) is not None
