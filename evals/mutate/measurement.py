"""The measured kill rate, as `python -m scripts.kill_rate` writes it and the manual shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from evals.mutate.matrix import Matrix, Row, kill_rate, turn_rate

MEASURED = Path(__file__).parent / "measured.json"
"""The last measurement over all scenarios."""
SHOWN = 4
"""How many evaluators the manual names for an operator."""


class Measured(BaseModel):
    """A measurement of the graders.

    Attributes:
        scenarios: how many scenarios the oracle played; each of its attempts that passes is mutated.
        drawn_from: how many there are, of which these were drawn with a fixed seed; 0 if it is not known.
        undecided: in how many scenarios only a judge of words can say whether the oracle passed; nothing is mutated.
        per_operator: how many mutants one operator made of one attempt at most.
        survivors: mutants that no evaluator detected and that are not accepted.
        accepted: mutants that no evaluator detected and that are accepted.
        controls: how many attempts were run and scored again unchanged.
        disturbed: controls in which an evaluator detected a fault.
        near_misses: the results of the operators that make near misses.
        missed: near misses whose verdict did not turn, with what they are.
        alike: near misses that no input tells from the reference.
        not_judged: mutants and near misses in which the flow engine ended twice; they count nowhere else.
    """

    model_config = ConfigDict(frozen=True)

    scenarios: int
    drawn_from: int = 0
    passed: int
    undecided: int = 0
    per_operator: int
    lfx: str
    operators: dict[str, Row]
    survivors: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    controls: int = 0
    disturbed: tuple[str, ...] = ()
    near_misses: dict[str, Row] = Field(default_factory=dict[str, Row])
    missed: dict[str, str] = Field(default_factory=dict[str, str])
    alike: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        counted: Matrix,
        *,
        scenarios: int,
        passed: int,
        per_operator: int,
        lfx: str,
        drawn_from: int = 0,
        undecided: int = 0,
    ) -> Self:
        """The measurement of a matrix."""
        return cls(
            scenarios=scenarios,
            drawn_from=drawn_from,
            passed=passed,
            undecided=undecided,
            per_operator=per_operator,
            lfx=lfx,
            operators=dict(counted.operators),
            survivors=tuple(trial.id for trial in counted.survivors),
            accepted=tuple(trial.id for trial in counted.accepted),
            controls=counted.controls,
            disturbed=tuple(trial.id for trial in counted.disturbed),
            near_misses=dict(counted.near_misses),
            missed={trial.id: trial.what for trial in counted.missed},
            alike=tuple(trial.id for trial in counted.alike),
            not_judged=tuple(trial.id for trial in counted.not_judged),
        )

    @property
    def tried(self) -> int:
        """How many mutants there were."""
        return sum(row.tried for row in self.operators.values())

    @property
    def killed(self) -> int:
        """How many of them an evaluator detected."""
        return sum(row.killed for row in self.operators.values())

    @property
    def failed(self) -> int:
        """How many of them turned the verdict."""
        return sum(row.failed for row in self.operators.values())

    @property
    def kill_rate(self) -> float:
        """Killed over tried, without accepted survivors; 0 if nothing was tried."""
        return kill_rate(self.operators, len(self.accepted)) or 0.0

    @property
    def turn_rate(self) -> float:
        """The share of near misses whose verdict turned, without those that are alike; 0 if none was tried."""
        return turn_rate(self.near_misses, len(self.alike)) or 0.0


def near_misses_as_markdown(measured: Measured) -> str:
    """The near misses as the manual shows them: a sentence, a table, and those that passed."""
    tried = sum(row.tried for row in measured.near_misses.values())
    turned = sum(row.failed for row in measured.near_misses.values())
    text = (
        f"Of {tried:,} near misses, **the verdict of {turned:,} ({turned / max(tried, 1):.1%}) turned from pass to "
        f"fail**. No input tells {len(measured.alike)} of the others from the reference (`evals/mutate/alike.yaml` "
        f"says why); without them it is {measured.turn_rate:.1%}, and {len(measured.missed)} passed."
    )
    lines = [
        text,
        "",
        "| operator | near misses | verdict turned | seen by |",
        "| --- | --- | --- | --- |",
    ]
    for name, row in measured.near_misses.items():
        lines.append(f"| `{name}` | {row.tried} | {row.failed} | {_seen_by(row)} |")
    return "\n".join(lines) + "\n"


def as_markdown(measured: Measured) -> str:
    """The measurement as the manual shows it: a sentence and a table."""
    share = measured.failed / max(measured.tried, 1)
    accepted = f", {len(measured.accepted)} of them accepted" if measured.accepted else ""
    words = f", {measured.undecided} undecided without a judge of words" if measured.undecided else ""
    text = (
        f"Measured over {_sample(measured)} ({measured.passed} passed by the oracle{words}) on lfx {measured.lfx}, "
        f"{measured.per_operator} mutant an operator and attempt: **{measured.killed:,} of {measured.tried:,} mutants "
        f"killed ({measured.kill_rate:.1%})**, {measured.tried - measured.killed} survivors{accepted}; in "
        f"{measured.failed:,} ({share:.1%}) the verdict turned to fail, in the others a grade fell. "
        f"Of {measured.controls} attempts run and scored again unchanged, {len(measured.disturbed)} "
        f"were seen as a fault.{_not_judged(measured)}"
    )
    lines = [
        text,
        "",
        "| operator | mutants | killed | verdict turned | seen by |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, row in measured.operators.items():
        lines.append(f"| `{name}` | {row.tried} | {row.killed} | {row.failed} | {_seen_by(row)} |")
    return "\n".join(lines) + "\n"


def _sample(measured: Measured) -> str:
    if measured.scenarios < measured.drawn_from:
        return f"a seeded sample of {measured.scenarios} of {measured.drawn_from} scenarios"
    return f"{measured.scenarios} scenarios"


def _not_judged(measured: Measured) -> str:
    count = len(measured.not_judged)
    return f" In {count} more the flow engine ended twice; they are not judged and not counted." if count else ""


def _seen_by(row: Row) -> str:
    return ", ".join(f"{evaluator} {count}" for evaluator, count in list(row.seen_by.items())[:SHOWN])
