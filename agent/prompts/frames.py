"""The one frame in which a model is shown text that the user did not type into the message: all in it is data."""

import functools
import json
import re

HEADINGS = (
    "Canvas reference",
    "Components that may fit",
    "Context of the application",
    "Conversation history",
    "Earlier proposals",
    "Errors of the flow",
    "Messages",
    "Previous plan",
    "Proposal ",
    "Result of ",
    "Summary",
    "Templates that may fit",
    "The user's files",
    "The user's own components",
    "What the message mentions",
)
"""How headings begin; `framed` takes no other."""

_BRACKET = re.compile(r"[\[［〔【⟦]")
"""What a mark begins with: most texts have none, and the whole pattern takes long to compile."""

_GAP = r"[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]*"
"""Spaces, and characters that are not seen."""


@functools.cache
def _mark() -> re.Pattern[str]:
    """Finds where a mark of a frame begins, with whatever brackets, spaces and unseen characters it is written."""
    words = [re.split(r"\s+", heading.strip()) for heading in ("End of", *HEADINGS)]
    spread = [rf"{_GAP}".join(_GAP.join(re.escape(letter) for letter in word) for word in some) for some in words]
    return re.compile(rf"{_BRACKET.pattern}(?={_GAP}(?:{'|'.join(spread)}))", re.IGNORECASE)


def framed(heading: str, content: str, end: str) -> str:
    """Text as data: between a heading and an end that it can neither close nor open itself.

    Args:
        heading: says what it is, and that it is data; begins with one of `HEADINGS`.
        content: the text.
        end: what ends, in a word or two.

    Raises:
        ValueError: the heading is none that is neutralised.
    """
    if not heading.startswith(HEADINGS):
        raise ValueError(f"the heading {heading[:40]!r} is not among HEADINGS")
    return f"[{heading}:\n{neutralised(content)}\n[End of {end}]"


def neutralised(text: str) -> str:
    """Text in which no frame's mark begins: its bracket becomes a round one."""
    return _mark().sub("(", text) if _BRACKET.search(text) else text


_RESULT = re.compile(r"\[Result of \w+ \(data\):\n(.*)\n\[End of result\]\Z", re.DOTALL)


def framed_result(tool: str, content: object) -> str:
    """What a tool answered, as data.

    Args:
        tool: its name.
        content: a text, or any value that is then written as JSON.
    """
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
    name = re.sub(r"\W", "", tool)[:64] or "tool"
    return framed(f"Result of {name} (data)", text, "result")


def unframed(text: str) -> str:
    """What a tool answered, out of its frame, for models that are code; any other text stays."""
    found = _RESULT.match(text)
    return text if found is None else found.group(1)
