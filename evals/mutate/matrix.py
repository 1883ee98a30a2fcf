"""The matrix of operators and evaluators, the kill rate, and accepted survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.bounded_yaml import TooComplex, load_yaml
from evals.mutate.mutants import CONTROL, OPERATORS
from evals.mutate.trials import Trial
from runtime.files.texts import TextRefused, read_text

ACCEPTED = Path(__file__).parent / "accepted.yaml"
"""The accepted survivors: mutants that are no worse than the original, each with a reason."""


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
    """

    operators: Mapping[str, Row]
    survivors: tuple[Trial, ...]
    accepted: tuple[Trial, ...]
    stale: tuple[str, ...]
    controls: int = 0
    disturbed: tuple[Trial, ...] = ()

    @property
    def kill_rate(self) -> float | None:
        """Killed over tried, without accepted survivors; None if nothing was tried."""
        return kill_rate(self.operators, len(self.accepted))


def kill_rate(operators: Mapping[str, Row], accepted: int) -> float | None:
    """Killed over tried, without accepted survivors; None if nothing was tried."""
    counted = sum(row.tried for row in operators.values()) - accepted
    return sum(row.killed for row in operators.values()) / counted if counted else None


def build_matrix(found: Sequence[Trial], accepted: Sequence[Survivor] = ()) -> Matrix:
    """Count the results of trials."""
    known = {survivor.id for survivor in accepted}
    controls = [trial for trial in found if trial.operator == CONTROL]
    found = [trial for trial in found if trial.operator != CONTROL]
    survivors = [trial for trial in found if not trial.killed]
    by_operator = {name: [trial for trial in found if trial.operator == name] for name in OPERATORS}
    return Matrix(
        operators={name: _row(trials) for name, trials in by_operator.items() if trials},
        survivors=tuple(trial for trial in survivors if trial.id not in known),
        accepted=tuple(trial for trial in survivors if trial.id in known),
        stale=tuple(sorted(known - {trial.id for trial in survivors})),
        controls=len(controls),
        disturbed=tuple(trial for trial in controls if trial.killed),
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
