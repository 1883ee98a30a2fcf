"""Compares an answer with the record of its turn, without a model: what makes the assistant try once more.

Rules that need no language come first: an act that was asked for and not done, a failed run that goes unmentioned, a
quoted output that no run gave. `spoken` tells which acts an answer says were done, in any words; one that it says
clearly and of which the record knows nothing is a difference.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from agent.honesty.absences import POSSIBLE, unwritten, without_flow_name
from agent.honesty.acts import CLEAR, Act, label_probabilities, sentences, strongest
from agent.honesty.quotations import plain, quoted_types, unquoted, unsupported_quotes
from agent.honesty.words import claims_placement, negates
from agent.turn.record import Asked, ChangeKind, TurnRecord

Difference: TypeAlias = Literal["idle", "not_run", "failed_run", "output", "placed"] | Act
"""A kind of difference between answer and record; an act is one that was claimed, and not done."""

NOTHING_CHANGED = (
    "Your last reply changed nothing. Do what was asked now with the tools; do not ask for confirmation; "
    "answer in the user's language."
)
"""The correction, sent once, of a model that did nothing about a request to act."""

LIKELY = 0.35
"""How probable it must be that an answer denies something, to excuse it; or that it speaks of writing a file, where one
was written and it names another."""

_REASONS: dict[Difference, str] = {
    "not_run": "a run was asked for, and nothing was run",
    "failed_run": "the last run failed, and it does not say so",
    "output": "it quotes an output that no run gave",
    "ran": "it says that something was run, and nothing was",
    "file": "it names a file as written that was not",
    "component": "it names a component as made that was not",
    "placed": "it says that the flow is on the canvas, and the flow is only proposed and waits for the user's yes",
}

_QUESTION = re.compile(r"[?？]")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What an answer is compared with.

    Attributes:
        record: what was done.
        asked: the kinds of act that the message asks for.
        known: texts that an answer may quote without claiming anything: the message, values of the canvas, what tools
            answered; read once, and only where an answer quotes.
        language: the answer's language; None when it is unknown.
        attempted: whether a tool that acts was called, even if it refused; such a turn is not idle.
        must_act: whether acting is still expected; not after the user denied an approval.
    """

    record: TurnRecord
    asked: tuple[Asked, ...] = ()
    known: Iterable[str] = ()
    language: str | None = None
    attempted: bool = False
    must_act: bool = True

    @cached_property
    def quotable(self) -> str:
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
    waits = record.waiting and record.proposal is None
    claimed: list[Difference] = [] if waits else list(dict.fromkeys(_claimed(answer, evidence)))
    silent = not (_QUESTION.search(answer) or denies(answer, evidence.language))
    found: list[Difference] = []
    if evidence.must_act and asked and not waits and (silent or claimed):
        if not record.acted and not evidence.attempted:
            found.append("idle")
        elif "run" in asked and not record.runs and silent:
            found.append("not_run")
    failed = bool(record.runs) and record.runs[-1].error is not None
    if failed and not (admits(answer, record) or denies(answer, evidence.language, beside="ran")):
        found.append("failed_run")
    if any(unsupported_quotes(answer, [run for run in record.runs if run.by == "user"], lambda: evidence.quotable)):
        found.append("output")
    return [*found, *claimed]


def correction(found: Sequence[Difference]) -> str:
    """The correction, sent once, of a model whose answer differs from the record."""
    if "idle" in found:
        return NOTHING_CHANGED
    reasons = [_REASONS.get(one, f"it says that something was {one}, and no tool did that") for one in found]
    return (
        f"Your last reply differs from what was done: {'; '.join(dict.fromkeys(reasons))}. Do it now with the tools, "
        "or say plainly what was not done; answer in the user's language."
    )


def denies(answer: str, language: str | None, *, beside: Act | None = None) -> bool:
    """Whether an answer may say of anything that it was not done, or decline.

    Args:
        answer: the answer.
        language: its language, if known.
        beside: an act; a sentence that clearly says that it was done ("it ran without errors") denies nothing.
    """
    return any(
        label_probabilities(one)["denied"] >= LIKELY or negates(unquoted(one), language)
        for one in sentences(answer)
        if beside is None or label_probabilities(one)[beside] < CLEAR
    )


def _denied(sentence: str, language: str | None) -> bool:
    """Whether a sentence denies; one in an unknown language by its sense alone, as "no" is "in the" in another."""
    return label_probabilities(sentence)["denied"] >= LIKELY or (language is not None and negates(sentence, language))


def admits(answer: str, record: TurnRecord) -> bool:
    """Whether an answer may say that the last run failed, or quotes the error."""
    if strongest(answer)["failed"] >= POSSIBLE:
        return True
    words = set(plain(record.runs[-1].error or "").split())
    return len(words & set(plain(answer).split())) > len(words) / 2


def _claimed(answer: str, evidence: Evidence) -> Iterator[Difference]:
    """The acts that an answer clearly says were done, and of which the record knows nothing."""
    record = evidence.record
    answer = without_flow_name(answer, record)
    probable = strongest(answer)
    for act, borne_out in _BORNE_OUT.items():
        if probable[act] >= CLEAR and not borne_out(record):
            yield act
    if record.proposal is not None and record.proposal.status == "offered" and not record.changes:
        told = [unquoted(one) for one in sentences(answer) if not _QUESTION.search(one)]
        if any(claims_placement(one, evidence.language) and not _denied(one, evidence.language) for one in told):
            yield "placed"
    if record.files and any(unwritten(answer, record, LIKELY)):
        yield "file"
    for sentence in sentences(answer):
        names = quoted_types(sentence) if label_probabilities(sentence)["component"] >= CLEAR else []
        if any(plain(name) not in evidence.quotable for name in names):
            yield "component"


def _changed(*kinds: ChangeKind) -> Callable[[TurnRecord], bool]:
    """Whether a record holds a change of one of these kinds, or a whole flow; changed texts may be put in any words."""
    return lambda record: (
        record.proposal is not None or any(one.kind in (*kinds, "replaced", "changed") for one in record.changes)
    )


_BORNE_OUT: Mapping[Act, Callable[[TurnRecord], bool]] = {
    "added": lambda record: _changed("added", "connected")(record) or bool(record.components or record.files),
    "removed": lambda record: (
        _changed("removed", "disconnected")(record) or any(one.change == "deleted" for one in record.files)
    ),
    "connected": _changed("connected"),
    "renamed": _changed("renamed"),
    "changed": lambda record: record.acted,
    "ran": lambda record: record.did("run"),
    "file": lambda record: record.did("files"),
    "component": lambda record: record.acted,
    "installed": lambda record: record.did("install"),
    "built": lambda record: record.acted,
    "approved": lambda record: not record.plans or any(one.status in ("approved", "changed") for one in record.plans),
}
"""By act: whether a record holds anything that such words may speak of."""
