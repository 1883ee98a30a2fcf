"""Compares an answer with the record of its turn, without a model: what makes the assistant try once more.

Rules that need no language come first: an act that was asked for and not done, a failed run that goes unmentioned, a
quoted output that no run gave. Word patterns add claims of acts of which the record knows nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import yaml

from agent.turn.record import Asked, TurnRecord

Difference: TypeAlias = Literal[
    "idle", "not_run", "failed_run", "output",
    "added", "removed", "connected", "renamed", "ran", "file", "component", "installed", "count",
]  # fmt: skip
"""A kind of difference between answer and record; those from `added` on come from word patterns."""

NOTHING_CHANGED = (
    "Your last reply changed nothing. Do what was asked now with the tools; do not ask for confirmation; "
    "answer in the user's language."
)
"""The correction, sent once, of a model that did nothing about a request to act."""

_REASONS: dict[Difference, str] = {
    "not_run": "a run was asked for, and nothing was run",
    "failed_run": "the last run failed, and it does not say so",
    "output": "it quotes an output that no run gave",
    "file": "it names a file as written that was not",
    "component": "it names a component as made that was not",
    "count": "it counts more than was done",
}

QUOTED_LETTERS = 3
"""A shorter quotation is no output."""

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。!?;])|\n+")
_QUOTE = re.compile(
    r"```.*?```|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』"
    r"|(?m:^\s*>.+(?:\n\s*>.+)*)",
    re.DOTALL,
)
_MASKED = re.compile(rf"(?<!\w)'[^'\n]+'(?!\w)|{_QUOTE.pattern}", re.DOTALL)
_FILE = re.compile(
    r"(?<![\w/.@-])[\w-]+(?:/[\w.-]+)*\.(?:md|txt|json|csv|tsv|ya?ml|pdf|docx?|xlsx?|html?|py|xml|log|png|jpe?g|svg)\b"
)
_JOINED = re.compile(r"[`*_\"\s]*(?:,|&|\+|and|und|et|y|e|と|、|和)[`*_\"\s]*")
_HABIT = re.compile(r"\b(?:is|are|gets?|é|são|es|son|viene|vengono|wird|werden)\s+(?:\w+\s+)?$", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+){1,2}|[\w./:-]*[_./:\d-][\w./:-]*|[A-Z0-9_]+|\w*[a-z][A-Z]\w*")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_ARROW = re.compile(r"(?:→|⇒|->|=>|=)\s*$")
_CLAUSE = re.compile(r"[,、,;]")
_QUESTION = re.compile(r"[??]")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What an answer is compared with.

    Attributes:
        record: what was done.
        asked: the kinds of act that the message asks for.
        known: texts that an answer may quote without claiming anything: the message, values of the canvas, what tools
            answered.
        language: the answer's language; None when it is unknown.
        attempted: whether a tool that acts was called, even if it refused; such a turn is not idle.
        must_act: whether acting is still expected; not after the user denied an approval.
    """

    record: TurnRecord
    asked: tuple[Asked, ...] = ()
    known: Sequence[str] = ()
    language: str | None = None
    attempted: bool = False
    must_act: bool = True

    @cached_property
    def told(self) -> str:
        """Everything that an answer may quote, as `plain` text, a line for each."""
        record = self.record
        runs = [text for run in record.runs for text in (run.input, run.output, run.error) if text]
        names = [record.proposal.flow] if record.proposal else []
        names += [node for change in record.changes for node in (*change.nodes, change.field or "")]
        names += [one.name for one in record.components] + [one.path for one in record.files]
        names += [one.title for one in record.plans] + [one.bundle for one in record.installs]
        return "\n".join(map(plain, [*runs, *names, *self.known]))


def differences(answer: str, evidence: Evidence) -> list[Difference]:
    """How an answer differs from the record, each difference once; any of them causes the one retry.

    A true decline, a question back and a report of a failure differ in nothing.

    Args:
        answer: the answer.
        evidence: what it is compared with.
    """
    record, asked = evidence.record, evidence.asked
    if not asked and not record.acted:
        return []
    claimed = list(_claimed(answer, evidence))
    spoken = evidence.language
    silent = not (_QUESTION.search(answer) or denies(answer, spoken) or _says("past", answer, spoken))
    waits = record.waiting and record.proposal is None
    found: list[Difference] = []
    if evidence.must_act and asked and not waits and (silent or claimed):
        if not record.acted and not evidence.attempted:
            found.append("idle")
        elif "run" in asked and not record.runs and silent:
            found.append("not_run")
    failed = bool(record.runs) and record.runs[-1].error is not None
    if failed and not (admits(answer, evidence) or denies(answer, spoken)):
        found.append("failed_run")
    if any(_foreign_quotes(answer, evidence)):
        found.append("output")
    return list(dict.fromkeys([*found, *claimed]))


def correction(found: Sequence[Difference]) -> str:
    """The correction, sent once, of a model whose answer differs from the record."""
    if "idle" in found:
        return NOTHING_CHANGED
    reasons = [_REASONS.get(one, f"it says that something was {one}, and no tool did that") for one in found]
    return (
        f"Your last reply differs from what was done: {'; '.join(dict.fromkeys(reasons))}. Do it now with the tools, "
        "or say plainly what was not done; answer in the user's language."
    )


def denies(answer: str, language: str | None) -> bool:
    """Whether an answer says of anything that it was not done, or declines."""
    prose = _pattern("flawless").sub(" ", _QUOTE.sub(" ", answer))
    return _says("negation", prose, language) or _says("declines", prose, language)


def admits(answer: str, evidence: Evidence) -> bool:
    """Whether an answer says that the last run failed: in words of failing, or by quoting the error."""
    prose = _pattern("flawless").sub(" ", answer)
    if _says("fails", prose, evidence.language):
        return True
    words = set(plain(evidence.record.runs[-1].error or "").split())
    return len(words & set(plain(answer).split())) > len(words) / 2


def _foreign_quotes(answer: str, evidence: Evidence) -> Iterator[str]:
    """What an answer about a run that went well quotes although no run gave it and nobody wrote it."""
    runs = [run for run in evidence.record.runs if run.by == "user"]
    if not runs or runs[-1].error is not None:
        return
    outputs = [plain(run.output) for run in runs if run.output]
    quotes_output = any(output in plain(answer) for output in outputs)
    for sentence, _ in _sentences(answer):
        for quote in _QUOTE.finditer(sentence):
            before = sentence[: quote.start()]
            if quotes_output and not _ARROW.search(before):
                continue
            if "?" in sentence[quote.end() :] or _says("condition", before, evidence.language):
                continue
            inner = quote.group().strip('`"“”„«»「」『』> \n')
            written = plain(inner)
            if len(written) < QUOTED_LETTERS or _NAME.fullmatch(inner) or written in evidence.told:
                continue
            if not any(len(output) >= QUOTED_LETTERS and output in written for output in outputs):
                yield inner


def _claimed(answer: str, evidence: Evidence) -> Iterator[Difference]:
    """The acts that an answer claims, in plain sentences about this turn, and of which the record knows nothing."""
    record = evidence.record
    kinds = {change.kind for change in record.changes}
    other = record.proposal is not None or bool(kinds & {"replaced", "changed"})  # which texts may be put in any words
    for sentence, prose in _sentences(answer):
        stated = _stated(prose, evidence.language)
        said = stated.keys()
        if "added" in said and not (other or kinds & {"added", "connected"} or record.components or record.files):
            yield "added"
        if "removed" in said and not (other or kinds & {"removed", "disconnected"} or _deleted(record)):
            yield "removed"
        if "connected" in said and not (other or "connected" in kinds) and "edit" in evidence.asked:
            yield "connected"
        if "renamed" in said and not (record.proposal is not None or kinds & {"renamed", "changed"}):
            yield "renamed"
        if "ran" in said and not record.runs:
            yield "ran"
        if "installed" in said and not record.did("install"):
            yield "installed"
        if "created" in said and not (record.acted or record.waiting):
            yield "added"
        yield from _named(sentence, evidence, created="created" in said)
        yield from _counted(record, stated)


def _stated(prose: str, language: str | None) -> dict[str, str]:
    """The kinds of act that a sentence states, each with its clause up to two words after the verb.

    A sentence states nothing in a quotation, nor where it negates, offers, asks, sets a condition or tells of the past.
    """
    found: dict[str, str] = {"removed": ""} if _says("gone", prose) else {}
    for kind in _words()["claims"]:
        for claim in _pattern(f"claims.{kind}").finditer(prose):
            comma = _CLAUSE.search(prose, claim.end())
            upto = prose[: len(prose) if comma is None else comma.start()]
            if _HABIT.search(prose[: claim.start()]) or _QUESTION.search(prose[claim.end() :]):
                continue
            if not any(_says(one, upto, language) for one in ("negation", "condition", "past")):
                found[kind] = " ".join([prose[: claim.end()], *prose[claim.end() :].split()[:2]])
    return found


def _named(sentence: str, evidence: Evidence, *, created: bool) -> Iterator[Difference]:
    """Files and component types that a sentence says were made, though they were not."""
    made = {file.path.rsplit("/", 1)[-1].casefold() for file in evidence.record.files}
    inputs = " ".join(f"{run.input} {run.output}" for run in evidence.record.runs)
    found = list(_FILE.finditer(sentence)) if evidence.asked else []
    real = [name.group().rsplit("/", 1)[-1].casefold() in made for name in found]
    for at, name in enumerate(found):
        listed = "files" in evidence.asked and _ITEM.sub("", sentence).lstrip("`*_ ").startswith(name.group())
        joined = any(
            real[pair] != real[pair + 1] and _JOINED.fullmatch(sentence[found[pair].end() : found[pair + 1].start()])
            for pair in (at - 1, at)
            if 0 <= pair < len(found) - 1
        )
        claimed = listed or (created and (joined or not any(real)))
        if claimed and not real[at] and name.group() not in inputs:
            yield "file"
    types = [name for pair in _component().findall(sentence) for name in pair if name]
    if created and any(plain(name) not in evidence.told for name in types):
        yield "component"


def _counted(record: TurnRecord, stated: Mapping[str, str]) -> Iterator[Difference]:
    """A number of components that a clause says were added, removed or connected, when there were fewer."""
    if record.proposal is not None:
        return
    for kind in stated.keys() & {"added", "removed", "connected"}:
        nodes = {node for change in record.changes if change.kind == kind for node in change.nodes}
        more = [number for number in _words()["counts"] if nodes and number > len(nodes)]
        if any(_says(f"counts.{number}", stated[kind]) for number in more):
            yield "count"


def _deleted(record: TurnRecord) -> bool:
    return any(file.change == "deleted" for file in record.files)


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences of a text, each also with its quotations masked; a quotation is not cut."""
    masked = _MASKED.sub(lambda quote: "¤" * len(quote.group()), text)
    start = 0
    for end in [*(gap.end() for gap in _SENTENCE.finditer(masked)), len(text)]:
        if text[start:end].strip():
            yield text[start:end], masked[start:end]
        start = end


def plain(text: str) -> str:
    """A text as quotations are compared: its letters and digits in lower case."""
    return " ".join(re.findall(r"[\w]+", text.casefold()))


def _says(kind: str, text: str, language: str | None = None) -> bool:
    return _pattern(kind, language).search(text) is not None


@cache
def _words() -> Mapping[str, Any]:
    return yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))


@cache
def _component() -> re.Pattern[str]:
    """The name of a component type beside the word for one."""
    word = _words()["component"]
    return re.compile(rf"(?i:{word})[^`]{{0,15}}`([A-Z]\w{{2,}})`|`([A-Z]\w{{2,}})`[^`]{{0,15}}(?i:{word})")


@cache
def _pattern(kind: str, language: str | None = None) -> re.Pattern[str]:
    """A table of words as one pattern: `claims.added` is a table of its own; of one by language, the answer's."""
    entry: Any = _words()
    for name in kind.split("."):
        entry = entry[int(name) if name.isdecimal() else name]
    if isinstance(entry, dict):
        by_language = cast("dict[str, str]", entry)
        entry = "|".join(by_language[one] for one in ([language] if language in by_language else by_language))
    return re.compile(re.sub(r"\s*\n\s*|(?<=\))\s+(?=\|)|\s+(?=\|)", "", entry), re.IGNORECASE)
