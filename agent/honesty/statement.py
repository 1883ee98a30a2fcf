"""The record of a turn in the user's language: what was done and what of the asked was not, a line a fact."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from agent.demo.reasons import whole_reason
from agent.honesty.absences import CANVAS_ACTS, absences, absent_acts, done_of
from agent.honesty.acts import CLEAR, Act
from agent.language.phrases import phrase
from agent.turn.record import Asked, ChangeEntry, TurnRecord
from tools.effects import RunEffect

TEXT_LIMIT = 300
"""How many characters of a run's input, output or error are shown."""

LISTED_CHANGES = 12
"""How many changes are listed one by one."""

LISTED_RUNS = 3
"""How many of the user's runs are listed, the last ones; without any, the last verification run is."""

_MISSING: dict[Asked, str] = {
    "build": "nothing",
    "edit": "nothing",
    "run": "nothing_run",
    "files": "nothing_files",
    "component": "nothing_component",
    "install": "nothing_install",
}


_ABSENT: dict[Act, str] = {
    "added": "nothing_added",
    "removed": "nothing_removed",
    "connected": "nothing_connected",
    "renamed": "nothing_renamed",
    "changed": "nothing_set",
    "ran": "nothing_run",
    "file": "nothing_files",
    "component": "nothing_component",
    "installed": "nothing_install",
    "built": "nothing",
    "approved": "nothing_approved",
}


def statement(
    record: TurnRecord,
    asked: Iterable[Asked],
    language: str,
    names: Mapping[str, str] = MappingProxyType({}),
    answer: str = "",
) -> str:
    """A record in words. It holds facts alone, so that it is true whatever the answer says.

    What was done is listed completely, and it says so; of what was not done, it names the kinds of act that were asked
    for, and those that the answer may speak of. Where nothing was done, it says that nothing was changed or run.

    Args:
        record: what was done.
        asked: the kinds of act that the message asks for.
        language: the language to write in.
        names: what the user sees components called, by their ids.
        answer: the answer that it stands with.

    Returns:
        The lines; empty when nothing was asked, nothing done, and the answer does not clearly say that anything was.
    """
    asked = list(asked)
    if not asked and not record.acted:
        claimed = absent_acts(answer, record, CLEAR)
        return " ".join(dict.fromkeys(phrase(_ABSENT[act], language) for act in claimed))
    found = absences(answer, record)
    done = list(_done(record, language, names, found.fewer))
    missing = dict.fromkeys(_MISSING[kind] for kind in record.undone_acts(asked if done else ["edit", "run", *asked]))
    missing |= dict.fromkeys(_ABSENT[act] for act in found.acts if "nothing" not in missing or act not in CANVAS_ACTS)
    closing = [
        phrase(key, language)
        for key in ([*missing, "nothing_else"] if done else [*(["waiting"] if record.waiting else []), *missing])
    ]
    if found.names:
        closing.insert(0, phrase("not_written", language, ", ".join(found.names)))
    return "\n".join([*done, " ".join(closing)])


def _done(record: TurnRecord, language: str, names: Mapping[str, str], counted: Collection[Act]) -> Iterator[str]:
    numbers = done_of(record)
    if record.proposal is not None:
        key = "offered" if record.proposal.status == "offered" else "applied"
        yield phrase(key, language, _quoted(record.proposal.flow))
    yield from _changes(record.changes, language, names, {act: numbers[act] for act in counted})
    for one in record.components:
        yield phrase("component", language, one.name, phrase(f"is_{one.change}", language))
    for at, file in enumerate(record.files, 1):
        change = phrase(f"is_{file.change}", language)
        if "file" in counted and at == len(record.files):
            change = phrase("in_all", language, change, at)
        yield phrase("file", language, file.path, change)
    for plan in record.plans:
        yield phrase("plan", language, _quoted(plan.title), phrase(f"is_{plan.status}", language))
    for install in record.installs:
        yield phrase("package", language, install.bundle, phrase(f"is_{install.status}", language))
    runs = [one for one in record.runs if one.by == "user"][-LISTED_RUNS:]
    yield from (_run(one, language) for one in runs or record.runs[-1:])


def _changes(
    changes: list[ChangeEntry], language: str, names: Mapping[str, str], numbers: Mapping[str, int]
) -> Iterator[str]:
    by_kind: dict[str, dict[str, None]] = {}
    for one in changes[:LISTED_CHANGES]:
        by_kind.setdefault(one.kind, {})[_subject(one, language, names)] = None
    for kind, subjects in by_kind.items():
        listed = ", ".join(subjects)
        yield phrase(kind, language, phrase("in_all", language, listed, numbers[kind]) if kind in numbers else listed)
    if len(changes) > LISTED_CHANGES:
        yield phrase("more", language, len(changes) - LISTED_CHANGES)


def _subject(change: ChangeEntry, language: str, names: Mapping[str, str]) -> str:
    """What a change concerns: a node, its field, two nodes, or the flow."""
    joint = " → " if change.kind in {"connected", "disconnected", "replaced"} else ", "
    subject = joint.join(names.get(node, node) for node in change.nodes) or phrase("the_flow", language)
    return f"{subject}.{change.field}" if change.field else subject


def _run(run: RunEffect, language: str) -> str:
    name = phrase("run" if run.by == "user" else "trial", language)
    if run.input:
        name = f"{name} ({_quoted(run.input)})"
    if run.untrusted_code:
        name = phrase("by_own_account", language, name)
    if run.error is not None:
        return phrase("run_failed", language, name, _short(whole_reason(run.error, language)))
    if run.output is None:
        return phrase("run_silent", language, name)
    return phrase("run_gave", language, name, _quoted(run.output))


def _quoted(text: str) -> str:
    return f"“{_short(text)}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TEXT_LIMIT else f"{line[:TEXT_LIMIT].rstrip()}…"
