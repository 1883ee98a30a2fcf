"""Reading a request by rules: quoted values, clauses, and the trailing "run it with ..."."""

import re
from dataclasses import dataclass

from agent.demo.exact.translations import run_request, with_english_keywords
from agent.demo.reading import read
from agent.language.detect import LANGUAGES, Language

_QUOTED = re.compile(
    r"\"(?P<double>[^\"]*)\"|“(?P<curly>[^”]*)”|`(?P<tick>[^`]*)`|(?<![A-Za-zÀ-ɏ\d_'])'(?P<single>.*?)'(?=[\s.,;:!?)、。，ぁ-ヿ一-鿿]|$)|‘(?P<angled>[^’]*)’",
    re.DOTALL,
)
_QUOTES = " 「」『』«»„“”\n"
_MASK = re.compile(r"⟦(\d+)⟧")
_RUN = re.compile(
    r"(?:^|[,;.]?\s*(?:\b(?:and|now|then|please|just)\b[\s,]*+)*+)\b(?:run|test|try|execute|check|show\s+me)\b"
    r"(?:\s+(?:it|this|that|(?:the|my|this)\s+(?:[\w-]+\s+){0,2}?(?:flow|bot|chatbot|result|agent)))?(?:\s+out)?(?:\s+once)?"
    r"(?:(?P<given>\s*(?:with|on|using|for)(?:\s+the)?(?:\s+(?:input|text|message|value|word)\b)?\s*:?\s*)(?P<input>.+?))?"
    r"(?:[,;]?\s*(?:and\s+)?(?:tell|show)\s+me(?:\s+(?:what|how|the|whether|if)\b[^.!?]*)?)?(?:,?\s*please)?\s*[.!]*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_GREETED = re.compile(
    r"[,;.]?\s*(?:and\s+)?say\s+(?P<input>⟦\d+⟧|\w+)\s+to\s+(?:it|the\s+bot)\s*[.!]*\s*$", re.IGNORECASE
)
_VERBS = (
    "add|insert|put|remove|delete|connect|wire|link|disconnect|unlink|set|change|update|rename|replace|swap|duplicate"
    "|copy|run|test|execute|give|undo|use|switch"
)
_CLAUSES = re.compile(
    rf"\s*(?:[,;.]|\band\b|\bthen\b)++\s*+(?:\band\b\s*+|\bthen\b\s*+)*+(?=(?:{_VERBS})\b)", re.IGNORECASE
)
_ENGLISH = re.compile(r"(?:please\s+)?(?:add|build|make|put|set|run|write)\b", re.IGNORECASE)
"""How only English requests begin, whatever other words they have."""
_SAYING = (
    r"(?:\s*:|\s+(?:that|which)\s+(?:says|reads)|\s+saying|\s+with\s+(?:the\s+|its\s+)?(?:template|text|words|wording))"
)
NAMED_WITH_WORDS = rf"(?P<name>[^⟦⟧]+?)(?:(?:{_SAYING})?\s+(?P<words>⟦\d+⟧))?"
"""A component that is added, with the words that it should have, where they stand right behind its name."""

WORDS_BEHIND = rf"(?:(?:{_SAYING})\s+(?P<template>.+))?"
"""The words that it should have, where they stand behind its place."""

VARIABLE = re.compile(r"(?<!\{)\{([A-Za-z][A-Za-z0-9_]*)\}(?!\})")
"""A variable in a prompt template."""


@dataclass(frozen=True)
class Request:
    """A message taken apart.

    Attributes:
        text: what to do, without the run clause; quoted values are masked as `⟦n⟧`.
        quoted: the quoted values, by n.
        runs: whether a run was asked for.
        input: what to run it with, if said.
        spoken: the language of the message; `text` has the words that rules look for in English.
        said: what to do as it was written, when the message is in English.
    """

    text: str
    quoted: tuple[str, ...]
    runs: bool
    input: str | None
    spoken: Language = "en"
    said: str = ""

    @property
    def lower(self) -> str:
        """The masked text in lower case."""
        return self.text.lower()

    @property
    def clauses(self) -> list[str]:
        """The single changes asked for, in order, masked."""
        return [clause.strip(" .,;") for clause in _CLAUSES.split(self.text) if clause.strip(" .,;")]

    def unmask(self, text: str) -> str:
        """A piece of the masked text with its quoted values back, without the quotes."""
        return _MASK.sub(lambda match: self.quoted[int(match.group(1))], text).strip()


def take_apart(message: str) -> Request:
    """Read a message by rules.

    Args:
        message: what the user wrote.
    """
    quoted: list[str] = []
    written: list[str] = []

    def mask(match: re.Match[str]) -> str:
        quoted.append(next(value for value in match.groups() if value is not None))
        written.append(match[0])
        return f"⟦{len(quoted) - 1}⟧"

    masked = _QUOTED.sub(mask, message.strip())
    spoken = "en" if _ENGLISH.match(masked) else _translated(read(masked).language)
    native, english = run_request(masked), with_english_keywords(masked, spoken)
    run = native or _ran(english)
    if native is None:
        masked = english
    if run is None:
        return Request(masked, tuple(quoted), runs=False, input=None, spoken=spoken)
    value = _MASK.sub(lambda match: quoted[int(match.group(1))], run["input"] or "").strip(_QUOTES)
    rest = masked[: run.start()].strip(" ,;.")
    before = _MASK.sub(lambda match: written[int(match.group(1))], rest)
    text = rest if native is None else with_english_keywords(rest, spoken)
    return Request(text, tuple(quoted), runs=True, input=value or None, spoken=spoken, said=before)


def _translated(code: str) -> Language:
    """The language whose words are put into English; those of any other stay as they are."""
    return code if code in LANGUAGES else "en"


def _ran(masked: str) -> re.Match[str] | None:
    """The clause that asks for a run; "check" and "show me" are one only with an input."""
    run = _GREETED.search(masked) or _RUN.search(masked)
    if run is None or run.group("input") is not None:
        return run
    return None if re.match(r"\W*(?:\w+\W+)?(?:check|show)\b", run.group(), re.IGNORECASE) else run


def plain(name: str) -> str:
    """A name reduced to what people mean by it: lower case letters and digits, without words such as "component"."""
    said = name.lower()
    named = re.sub(r"\b(the|a|an|component|node|block|step)\b", " ", said)
    return re.sub(r"[^a-z0-9]", "", named) or re.sub(r"[^a-z0-9]", "", said)
