"""The matrix of operators and evaluators, the kill rate, and accepted survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.bounded_yaml import TooComplex, load_yaml
from evals.mutate.mutants import CONTROL, OPERATORS
from evals.mutate.near_misses import NEAR_MISSES
from evals.mutate.trials import Trial
from runtime.files.texts import TextRefused, read_text

ACCEPTED = Path(__file__).parent / "accepted.yaml"
"""The accepted survivors: mutants that are no worse than the original, each with a reason."""

ALIKE = Path(__file__).parent / "alike.yaml"
"""The near misses that no input tells from the reference, each with the reason."""


class AcceptedError(ValueError):
    """A list of accepted survivors that cannot be used; the message names the place."""


class Survivor(BaseModel):
    """A mutant that may survive.

    Attributes:
        because: why it is no worse than the original.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    because: str


class Row(BaseModel):
    """The results of one operator's mutants.

    Attributes:
        failed: how many verdicts turned to fail.
        seen_by: how many mutants each evaluator detected, most first.
    """

    model_config = ConfigDict(frozen=True)

    tried: int
    killed: int
    failed: int
    seen_by: dict[str, int]


@dataclass(frozen=True)
class Matrix:
    """What the evaluators detected.

    Attributes:
        survivors: mutants that no evaluator detected and that are not accepted.
        accepted: mutants that no evaluator detected and that are accepted.
        stale: accepted survivors that are not mutants any more, or are killed.
        controls: how many attempts were run and scored again unchanged; they are not mutants.
        disturbed: controls in which an evaluator detected a fault; with any, the kill rate means little.
        near_misses: the results of the operators that make near misses; they are not part of the kill rate.
        missed: near misses whose verdict did not turn, and that are not known to be alike.
        alike: near misses whose verdict did not turn, because no input tells them from the reference.
        not_judged: trials in which the flow engine ended twice; they count nowhere else.
    """

    operators: Mapping[str, Row]
    survivors: tuple[Trial, ...]
    accepted: tuple[Trial, ...]
    stale: tuple[str, ...]
    controls: int = 0
    disturbed: tuple[Trial, ...] = ()
    near_misses: Mapping[str, Row] = field(default_factory=dict[str, Row])
    missed: tuple[Trial, ...] = ()
    alike: tuple[Trial, ...] = ()
    not_judged: tuple[Trial, ...] = ()

    @property
    def kill_rate(self) -> float | None:
        """Killed over tried, without accepted survivors; None if nothing was tried."""
        return kill_rate(self.operators, len(self.accepted))

    @property
    def turn_rate(self) -> float | None:
        """The share of near misses whose verdict turned, without those that are alike; None if none was tried."""
        return turn_rate(self.near_misses, len(self.alike))


def kill_rate(operators: Mapping[str, Row], accepted: int) -> float | None:
    """Killed over tried, without accepted survivors; None if nothing was tried."""
    counted = sum(row.tried for row in operators.values()) - accepted
    return sum(row.killed for row in operators.values()) / counted if counted else None


def turn_rate(near_misses: Mapping[str, Row], alike: int) -> float | None:
    """The share of near misses whose verdict turned, without those that are alike; None if none was tried."""
    counted = sum(row.tried for row in near_misses.values()) - alike
    return sum(row.failed for row in near_misses.values()) / counted if counted else None


def build_matrix(found: Sequence[Trial], accepted: Sequence[Survivor] = (), alike: Sequence[Survivor] = ()) -> Matrix:
    """Count the results of trials.

    Args:
        accepted: survivors that are no worse than the original.
        alike: near misses that no input tells from the reference.
    """
    known, same = {survivor.id for survivor in accepted}, {survivor.id for survivor in alike}
    crashed = tuple(trial for trial in found if trial.not_judged)
    found = [trial for trial in found if not trial.not_judged]
    controls = [trial for trial in found if trial.operator == CONTROL]
    near = {name: [trial for trial in found if trial.operator == name] for name in NEAR_MISSES}
    unturned = [trial for trials in near.values() for trial in trials if not trial.failed]
    found = [trial for trial in found if trial.operator in OPERATORS]
    survivors = [trial for trial in found if not trial.killed]
    by_operator = {name: [trial for trial in found if trial.operator == name] for name in OPERATORS}
    return Matrix(
        operators={name: _row(trials) for name, trials in by_operator.items() if trials},
        survivors=tuple(trial for trial in survivors if trial.id not in known),
        accepted=tuple(trial for trial in survivors if trial.id in known),
        stale=tuple(sorted(known - {trial.id for trial in (*survivors, *crashed)})),
        controls=len(controls),
        disturbed=tuple(trial for trial in controls if trial.killed),
        near_misses={name: _row(trials) for name, trials in near.items() if trials},
        missed=tuple(trial for trial in unturned if trial.id not in same or trial.alike is False),
        alike=tuple(trial for trial in unturned if trial.id in same and trial.alike is not False),
        not_judged=crashed,
    )


def read_accepted(path: Path = ACCEPTED) -> tuple[Survivor, ...]:
    """The accepted survivors of a file.

    Raises:
        AcceptedError: it is not a list of survivors.
    """
    try:
        found: object = load_yaml(read_text(path)) or []
        survivors = [Survivor.model_validate(entry) for entry in found] if isinstance(found, list) else None  # pyright: ignore[reportUnknownVariableType]  (whatever the file holds)
    except (TextRefused, TooComplex) as refused:
        raise AcceptedError(f"{path.name} {refused}") from None
    except yaml.YAMLError:
        raise AcceptedError(f"{path.name} cannot be read as YAML") from None
    except ValidationError as error:
        raise AcceptedError(f"{path.name}: each entry has an id and a because ({error.error_count()} faults)") from None
    if survivors is None:
        raise AcceptedError(f"{path.name} must be a list of entries with id and because")
    return tuple(survivors)


def _row(found: Sequence[Trial]) -> Row:
    seen = Counter(name for trial in found for name in trial.seen_by)
    return Row(
        tried=len(found),
        killed=sum(trial.killed for trial in found),
        failed=sum(trial.failed for trial in found),
        seen_by=dict(sorted(seen.items(), key=lambda item: (-item[1], item[0]))),
    )
