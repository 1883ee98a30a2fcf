"""Components that the demo planner can write: a few transformations of a text, each from the same frame."""

import re
from dataclasses import dataclass

from agent.demo.exact.language import Request

_WANTED = re.compile(
    r"\b(?:build|create|make|write|generate|code|develop|need|want)\b.{0,40}?\b(?:custom\s+)?component\b", re.IGNORECASE
)
_ALSO_FLOW = re.compile(r"\b(?:flow|workflow|chatbot|bot|pipeline)\b", re.IGNORECASE)

_FRAME = """from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema import Message


class {name}(Component):
    display_name = "{title}"
    description = "{about}"
    icon = "type"
    name = "{name}"

    inputs = [MessageTextInput(name="text", display_name="Text", info="The text.", required=True, tool_mode=True)]
    outputs = [Output(name="result", display_name="Result", method="build_result")]

    def build_result(self) -> Message:
        text = self.text or ""
        return Message(text={body})
"""

_ABLE = (
    (r"revers\w*|backwards?", "TextReverser", "Text Reverser", "Writes a text backwards.", "text[::-1]"),
    (r"vowels?", "VowelCounter", "Vowel Counter", "Counts the vowels of a text.",
     'str(sum(letter in "aeiou" for letter in text.lower()))'),
    (r"palindromes?", "PalindromeChecker", "Palindrome Checker", "Says whether a text reads the same backwards.",
     '"yes" if (kept := [c for c in text.lower() if c.isalnum()]) == kept[::-1] else "no"'),
    (r"slug\w*", "Slugifier", "Slugifier", "Makes a text fit for a web address.",
     '"-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())'),
    (r"sort\w*", "LineSorter", "Line Sorter", "Sorts the lines of a text.", '"\\n".join(sorted(text.splitlines()))'),
    (r"duplicates?|unique", "LineDeduplicator", "Line Deduplicator", "Keeps each line of a text once.",
     '"\\n".join(dict.fromkeys(text.splitlines()))'),
    (r"initials?|acronyms?", "AcronymMaker", "Acronym Maker", "Takes the first letter of every word.",
     '"".join(word[0].upper() for word in text.split())'),
    (r"upper\s?-?case\w*|shout\w*", "TextShouter", "Text Shouter", "Writes a text in capital letters.", "text.upper()"),
    (r"longest\s+word", "LongestWord", "Longest Word", "Finds the longest word of a text.",
     'max(text.split(), key=len, default="")'),
    (r"counts?\s+(?:the\s+)?words|word\s+count\w*", "WordCounter", "Word Counter", "Counts the words of a text.",
     "str(len(text.split()))"),
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A component that was asked for.

    Attributes:
        source: its source code.
        name: its type.
        in_flow: whether a flow around it was asked for as well.
    """

    source: str
    name: str
    in_flow: bool


def wants_component(request: Request) -> bool:
    """Whether a message asks for a component of its own rather than one that is there."""
    return bool(_WANTED.search(request.text))


def component(request: Request) -> Written | None:
    """The component that a message asks for, or None when the planner can write none like it.

    Args:
        request: the message taken apart.
    """
    found = next((able for able in _ABLE if re.search(rf"\b(?:{able[0]})", request.text, re.IGNORECASE)), None)
    if found is None or not wants_component(request):
        return None
    _, name, title, about, body = found
    source = _FRAME.format(name=name, title=title, about=about, body=body)
    return Written(source, name, bool(_ALSO_FLOW.search(request.text)))
