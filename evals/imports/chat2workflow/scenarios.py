"""Chat2Workflow's tasks as scenarios: an open one for each round, judged by expectations, probes and an LLM judge.

Source of the format: Zhong et al. 2026, "Chat2Workflow: A Benchmark for Generating Executable Visual Workflows with
Natural Language". What cannot be converted is listed for every scenario.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict

from evals.expectation import Expect
from evals.imports.chat2workflow.details import NO_DETAILS, round_details
from evals.imports.chat2workflow.files import file_kinds
from evals.imports.chat2workflow.format import BenchmarkCase, BenchmarkCheck, Task
from evals.imports.chat2workflow.offline import Offline, offline
from evals.scenario import Scenario, Turn

KINDS = Path(__file__).parent / "chat2workflow.yaml"
"""The component types for each kind of node."""


class NodeKind(BaseModel):
    """The equivalent of a kind of node.

    Attributes:
        types: component types, any of which does the same; empty without an equivalent.
        because: why there is none, or what to keep in mind.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    types: tuple[str, ...]
    because: str = ""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The scenario of a round.

    Attributes:
        notes: what was not converted, or was adapted, a sentence each.
    """

    scenario: Scenario
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Conversion:
    """What has been converted of a round so far."""

    expect: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    lost: list[str] = field(default_factory=list[str])
    criteria: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    offline: Offline = field(default_factory=Offline)


def node_kinds() -> dict[str, NodeKind]:
    """The known kinds of nodes."""
    document = yaml.safe_load(KINDS.read_text(encoding="utf-8"))
    return {name: NodeKind.model_validate(entry) for name, entry in document.items()}


def convert_tasks(
    tasks: Sequence[Task], checks: Mapping[str, BenchmarkCheck], files: Path | None = None
) -> tuple[list[Imported], list[str]]:
    """Convert tasks to scenarios.

    Args:
        files: the folder of the files that tests upload; None leaves them out.

    Returns:
        A scenario for each round, and notes about checks without a round.
    """
    known = node_kinds()
    made = [
        _convert(task, number, _checks_of(task, checks), known, files)
        for task in tasks
        for number in range(1, len(task.rounds) + 1)
    ]
    rounds = {f"{task.name}_{number}" for task in tasks for number in range(1, len(task.rounds) + 1)}
    return made, [f"{key}: no query has this round" for key in checks if key not in rounds]


def _checks_of(task: Task, checks: Mapping[str, BenchmarkCheck]) -> dict[int, BenchmarkCheck]:
    rounds = range(1, len(task.rounds) + 1)
    return {number: checks[f"{task.name}_{number}"] for number in rounds if f"{task.name}_{number}" in checks}


def slug(name: str) -> str:
    """The id of a scenario for the name of a task: `logo-svg` for `LogoSVG`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return "-".join(word.lower() for word in words) or "task"


def _convert(
    task: Task, number: int, checks: Mapping[int, BenchmarkCheck], known: Mapping[str, NodeKind], folder: Path | None
) -> Imported:
    converted = _Conversion()
    check, others = checks.get(number), checks.values()
    if check is None:
        converted.notes.append("there are no checks of this round: only what the user says is carried over")
    else:
        _convert_checks(check, known, converted)
        details = round_details().get(f"{task.name}_{number}", NO_DETAILS)
        converted.offline = offline(check, details, file_kinds(others), folder)
        converted.notes += dict.fromkeys(converted.offline.notes)
    probes = converted.offline.probes
    turns = [Turn(say=words) for words in task.rounds[:number]]
    if converted.offline.hint:
        turns[-1] = Turn(say=f"{turns[-1].say}\n\n{converted.offline.hint}")
    lost = f" Without an equivalent here: {', '.join(converted.lost)}." if converted.lost else ""
    scenario = Scenario(
        id=f"{slug(task.name)}-{number}",
        about=f"Chat2Workflow ({task.category}): {task.name}, round {number} of {len(task.rounds)}.{lost}",
        tags=("imported", "chat2workflow", slug(task.category)),
        split="test",
        files=probes[0].files if probes else {},
        turns=tuple(turns),
        open=True,
        expect=Expect(one_of=tuple(converted.expect)),
        models=converted.offline.models,
        services=converted.offline.services,
        probes=probes,
        criteria=tuple(converted.criteria),
    )
    return Imported(scenario=scenario, notes=tuple(converted.notes))


def _convert_checks(check: BenchmarkCheck, known: Mapping[str, NodeKind], converted: _Conversion) -> None:
    ends = [kind for kind, names in (("start", check.inputs), ("end", any(check.outputs))) if names]
    for kind in dict.fromkeys((*check.kinds, *ends)):
        _expect(kind, known.get(kind), converted)
    converted.notes += [f"{key} means nothing here" for key in check.others]
    sets = [", ".join(names) for names in check.outputs if names]
    if len(sets) == 1:
        converted.criteria.append(f"The flow gives these results: {sets[0]}.")
    elif sets:
        converted.criteria.append(f"Depending on its branch, the flow gives one of these: {'; or '.join(sets)}.")
    converted.criteria += [f"The result {name} is a {ending} file." for name, ending in check.endings.items()]
    for case in check.cases:
        if case.truth is not None:
            converted.criteria.append(f"Given {_shown(case)}, this would be right: {case.truth}")


def _expect(name: str, kind: NodeKind | None, converted: _Conversion) -> None:
    if kind is None:
        converted.lost.append(name)
        converted.notes.append(f"node kind {name} is not known")
    elif not kind.types:
        converted.lost.append(name)
        converted.notes.append(f"node kind {name} cannot be expected: {kind.because}")
    else:
        converted.expect.append(kind.types)
        if kind.because:
            converted.notes.append(f"node kind {name} is any of {', '.join(kind.types)}: {kind.because}")


def _shown(case: BenchmarkCase) -> str:
    parts = [
        f"{name} = {value if isinstance(value, str) else ', '.join(file.value for file in value)}"
        for name, value in case.inputs.items()
    ]
    return "; ".join(parts) or "nothing"
