"""Chat2Workflow's tasks as scenarios: one for each round of a task, open, judged by expectations, probes and a judge.

Source of the format: Zhong et al. 2026, "Chat2Workflow: A Benchmark for Generating Executable Visual Workflows with
Natural Language". What cannot be carried over is listed for every scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from evals.expectation import Expect, Probe
from evals.imports.chat2workflow.format import Check, FileValue, Task, Trial
from evals.scenario import Scenario, Turn

KINDS = Path(__file__).parent / "chat2workflow.yaml"
"""The kinds of nodes as data."""

SOMETHING = r"\S"
"""What a probe must give: anything but white space. Whether it is right is for a judge."""


class Kind(BaseModel):
    """What a kind of node is here.

    Attributes:
        types: component types, any of which does the same; none when nothing does.
        because: why there is none, or what to keep in mind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: tuple[str, ...]
    because: str = ""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """One scenario that was made of a round.

    Attributes:
        scenario: the scenario; the content of its files is read from where they were.
        files: the files that it holds, by name.
        notes: what is not carried over or was adapted, a sentence each.
    """

    scenario: Scenario
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Carried:
    """What has been carried over of a round so far."""

    expect: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    lost: list[str] = field(default_factory=list[str])
    probes: list[Probe] = field(default_factory=list[Probe])
    criteria: list[str] = field(default_factory=list[str])
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    hint: str = ""


def kinds() -> dict[str, Kind]:
    """The kinds of nodes that are known, and what they are here."""
    document = yaml.safe_load(KINDS.read_text(encoding="utf-8"))
    return {name: Kind.model_validate(entry) for name, entry in document.items()}


def scenarios(
    tasks: Sequence[Task], checks: Mapping[str, Check], files: Path | None = None
) -> tuple[list[Imported], list[str]]:
    """Make scenarios of tasks.

    Args:
        files: the folder of the files that tests hand in; None leaves them out.

    Returns:
        A scenario for each round, and notes about what belongs to none.
    """
    known = kinds()
    made = [
        _made(task, number, checks.get(f"{task.name}_{number}"), known, files)
        for task in tasks
        for number in range(1, len(task.rounds) + 1)
    ]
    rounds = {f"{task.name}_{number}" for task in tasks for number in range(1, len(task.rounds) + 1)}
    return made, [f"{key}: no query has this round" for key in checks if key not in rounds]


def slug(name: str) -> str:
    """The name of a task as a scenario's id: `LogoSVG` is `logo-svg`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return "-".join(word.lower() for word in words) or "task"


def _made(task: Task, number: int, check: Check | None, known: Mapping[str, Kind], folder: Path | None) -> Imported:
    carried = _Carried()
    if check is None:
        carried.notes.append("there are no checks of this round: only what the user says is carried over")
    else:
        _carry(check, known, folder, carried)
    turns = [Turn(say=words) for words in task.rounds[:number]]
    if carried.hint:
        turns[-1] = Turn(say=f"{turns[-1].say}\n\n{carried.hint}")
    lost = f" Without an equivalent here: {', '.join(carried.lost)}." if carried.lost else ""
    scenario = Scenario(
        id=f"{slug(task.name)}-{number}",
        about=f"Chat2Workflow ({task.category}): {task.name}, round {number} of {len(task.rounds)}.{lost}",
        tags=("imported", "chat2workflow", slug(task.category)),
        split="test",
        files=carried.texts,
        turns=tuple(turns),
        open=True,
        expect=Expect(one_of=tuple(carried.expect)),
        probes=tuple(carried.probes),
        criteria=tuple(carried.criteria),
    )
    return Imported(scenario=scenario, files=carried.files, notes=tuple(carried.notes))


def _carry(check: Check, known: Mapping[str, Kind], folder: Path | None, carried: _Carried) -> None:
    ends = [kind for kind, names in (("start", check.inputs), ("end", any(check.outputs))) if names]
    for kind in dict.fromkeys((*check.kinds, *ends)):
        _expect(kind, known.get(kind), carried)
    carried.notes += [f"{key} means nothing here" for key in check.others]
    sets = [", ".join(names) for names in check.outputs if names]
    if len(sets) == 1:
        carried.criteria.append(f"The flow gives these results: {sets[0]}.")
    elif sets:
        carried.criteria.append(f"Depending on its branch, the flow gives one of these: {'; or '.join(sets)}.")
    carried.criteria += [f"The result {name} is a {ending} file." for name, ending in check.endings.items()]
    for trial in check.trials:
        for file in _files(trial):
            _copy(file, trial, folder, carried)
        if trial.truth is not None:
            carried.criteria.append(f"Given {_shown(trial)}, this would be right: {trial.truth}")
    _probe(check, carried)


def _expect(name: str, kind: Kind | None, carried: _Carried) -> None:
    if kind is None:
        carried.lost.append(name)
        carried.notes.append(f"node kind {name} is not known")
    elif not kind.types:
        carried.lost.append(name)
        carried.notes.append(f"node kind {name} cannot be expected: {kind.because}")
    else:
        carried.expect.append(kind.types)
        if kind.because:
            carried.notes.append(f"node kind {name} is any of {', '.join(kind.types)}: {kind.because}")


def _probe(check: Check, carried: _Carried) -> None:
    """A probe for each test that is only text; each must give something else than the next one does."""
    typed = [trial for trial in check.trials if trial.inputs and not any(_files(trial))]
    carried.notes += [
        f"{trial.name} is not run: {_why_not(trial)}; a probe types text into the chat"
        for trial in check.trials
        if trial not in typed
    ]
    if typed and len(check.inputs) > 1:
        lines = ", ".join(f"'{name}: …'" for name in check.inputs)
        carried.hint = f"When I try it, I type everything into the chat, a line each: {lines}."
        carried.notes.append("several inputs are typed as one message, a line each; the last message says so")
    messages = [_message(check, trial) for trial in typed]
    for number, message in enumerate(messages):
        others = [other for other in (*messages[number + 1 :], *messages[:number]) if other != message]
        carried.probes.append(Probe(input=message, regex=SOMETHING, unlike=others[0] if others else None))
    if typed:
        carried.notes.append("probes check that there is an output and that it depends on the input, not what it says")


def _message(check: Check, trial: Trial) -> str:
    texts = {name: value for name, value in trial.inputs.items() if isinstance(value, str)}
    if len(check.inputs) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {texts.get(name, '')}" for name in check.inputs)


def _files(trial: Trial) -> Iterator[FileValue]:
    for value in trial.inputs.values():
        if not isinstance(value, str):
            yield from value


def _why_not(trial: Trial) -> str:
    handed = [name for name, value in trial.inputs.items() if not isinstance(value, str)]
    return f"{', '.join(handed)} is a file" if handed else "it gives no input"


def _copy(file: FileValue, trial: Trial, folder: Path | None, carried: _Carried) -> None:
    if file.value in carried.files:
        return
    path = None if folder is None else folder / file.value
    if path is None or not path.is_file():
        carried.notes.append(f"{trial.name}: the file {file.value} is not there")
        return
    carried.files[file.value] = path
    try:
        carried.texts[file.value] = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        note = f"{trial.name}: {file.value} ({file.mime_type}) is copied, but a scenario holds text files only"
        carried.notes.append(note)


def _shown(trial: Trial) -> str:
    parts = [
        f"{name} = {value if isinstance(value, str) else ', '.join(file.value for file in value)}"
        for name, value in trial.inputs.items()
    ]
    return "; ".join(parts) or "nothing"
