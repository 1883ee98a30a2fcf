"""What an answer may say was done, and was not: which facts have to be shown beside it.

An act counts as soon as it is possible that the answer speaks of it. That is often wrong and does no harm: what is
shown is true whatever the answer says.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from agent.honesty.acts import FILE, Act, label_probabilities, sentences, strongest
from agent.honesty.quotations import is_type, quoted_types
from agent.honesty.words import counting_words
from agent.turn.record import ChangeKind, TurnRecord

POSSIBLE = 0.2
"""How probable it must be that an answer says that an act was done, for the facts to say that it was not."""

CANVAS_ACTS: frozenset[Act] = frozenset({"added", "removed", "connected", "renamed", "changed", "built"})
"""The acts that change the canvas."""


@dataclass(frozen=True, kw_only=True)
class Absences:
    """What an answer may say was done, and was not.

    Attributes:
        acts: the kinds of act of which nothing was done.
        names: the files and component types that it names and that were not written, though others were.
        fewer: the kinds of act of which it may count more than were done.
    """

    acts: tuple[Act, ...] = ()
    names: tuple[str, ...] = ()
    fewer: tuple[Act, ...] = ()


def absences(answer: str, record: TurnRecord, threshold: float = POSSIBLE) -> Absences:
    """What an answer may say was done, and was not.

    Args:
        answer: the answer; the empty one says nothing.
        record: what was done.
        threshold: how probable it must be that the answer says so.
    """
    acts, answer = absent_acts(answer, record, threshold), without_flow_name(answer, record)
    names = [name for name in unwritten(answer, record) if "file" not in acts]
    return Absences(acts=acts, names=tuple(dict.fromkeys(names)), fewer=tuple(_fewer(answer, record)))


def absent_acts(answer: str, record: TurnRecord, threshold: float = POSSIBLE) -> tuple[Act, ...]:
    """The kinds of act that an answer may say were done, and of which nothing was done.

    Args:
        answer: the answer; the empty one says nothing.
        record: what was done.
        threshold: how probable it must be that the answer says so.
    """
    probable = strongest(without_flow_name(answer, record))
    return tuple(act for act, did in _HAPPENED.items() if probable[act] >= threshold and not did(record))


def without_flow_name(answer: str, record: TurnRecord) -> str:
    """An answer without the name of the flow that was built, which may have any words in it, those of a file too."""
    name = record.proposal.flow if record.proposal is not None else ""
    return answer.replace(name, "…") if FILE.search(name) else answer


def done_of(record: TurnRecord) -> dict[Act, int]:
    """How many components were added, removed and renamed, connections made, and files changed."""
    kinds: tuple[Literal["added", "removed", "renamed"], ...] = ("added", "removed", "renamed")
    found: dict[Act, int] = {
        kind: len({node for one in record.changes if one.kind == kind for node in one.nodes}) for kind in kinds
    }
    found["connected"] = sum(one.kind == "connected" for one in record.changes)
    found["file"] = len(record.files)
    return found


def _fewer(answer: str, record: TurnRecord) -> Iterator[Act]:
    if record.proposal is not None:
        return
    for act, count in done_of(record).items():
        if not count:
            continue
        more = [words for number, words in counting_words().items() if number > count]
        speaking = [one for one in sentences(answer) if label_probabilities(one)[act] >= POSSIBLE]
        if act == "file":  # deleting one is either
            speaking += [one for one in sentences(answer) if label_probabilities(one)["removed"] >= POSSIBLE]
        if any(re.search(words, one, re.IGNORECASE) for one in speaking for words in more):
            yield act


def unwritten(answer: str, record: TurnRecord, threshold: float = POSSIBLE) -> Iterator[str]:
    """The files and types that an answer names where it may speak of writing them, and that were not written."""
    files = {one.path.rsplit("/", 1)[-1].casefold() for one in record.files}
    types = {one.name for one in record.components} | {node for change in record.changes for node in change.nodes}
    read = " ".join(f"{run.input} {run.output}" for run in record.runs)
    for sentence in sentences(answer):
        probable = label_probabilities(sentence)
        if probable["file"] >= threshold:
            names = (name for name in FILE.findall(sentence) if name not in read)
            yield from (name for name in names if name.rsplit("/", 1)[-1].casefold() not in files)
        if probable["component"] >= threshold and record.components:
            yield from (name for name in quoted_types(sentence) if not is_type(name, types))


def _changed(*kinds: ChangeKind) -> Callable[[TurnRecord], bool]:
    """Whether a record holds a change of one of these kinds, or a whole flow, about which it says enough."""
    return lambda record: record.proposal is not None or any(one.kind in kinds for one in record.changes)


_HAPPENED: Mapping[Act, Callable[[TurnRecord], bool]] = {
    "added": _changed("added", "replaced"),
    "removed": lambda record: (
        _changed("removed", "disconnected", "replaced")(record) or any(one.change == "deleted" for one in record.files)
    ),
    "connected": _changed("connected", "replaced"),
    "renamed": _changed("renamed"),
    "changed": lambda record: _changed("changed", "replaced", "renamed")(record) or record.did("files"),
    "ran": lambda record: record.did("run"),
    "file": lambda record: record.did("files"),
    "component": lambda record: record.did("component"),
    "installed": lambda record: record.did("install"),
    "built": lambda record: record.did("edit") or record.did("component"),
    "approved": lambda record: not record.plans or any(one.status in ("approved", "changed") for one in record.plans),
}
"""By act: whether it happened, to the letter."""
