"""The matrix of operators and evaluators, the kill rate, and the survivors that were looked at and accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.mutate.mutants import CONTROL, OPERATORS
from evals.mutate.trials import Trial

ACCEPTED = Path(__file__).parent / "accepted.yaml"
"""The survivors that were looked at: mutants that are no worse than the original, each with its reason."""


class AcceptedError(ValueError):
    """The list of accepted survivors cannot be used; the message names the place."""


class Survivor(BaseModel):
    """A mutant that may survive.

    Attributes:
        because: why it is no worse than what it came from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    because: str


class Row(BaseModel):
    """What became of one operator's mutants.

    Attributes:
        failed: of how many the verdict turned to fail.
        seen_by: how many each evaluator saw, most first.
    """

    model_config = ConfigDict(frozen=True)

    tried: int
    killed: int
    failed: int
    seen_by: dict[str, int]


@dataclass(frozen=True)
class Matrix:
    """What the evaluators saw.

    Attributes:
        survivors: those that none saw and nobody accepted.
        accepted: those that none saw and that were accepted.
        stale: accepted survivors that are no mutants any more, or are killed.
        controls: how many attempts were run and scored again unchanged; they are not mutants.
        disturbed: those of them in which an evaluator saw a fault all the same: what is killed says little then.
    """

    operators: Mapping[str, Row]
    survivors: tuple[Trial, ...]
    accepted: tuple[Trial, ...]
    stale: tuple[str, ...]
    controls: int = 0
    disturbed: tuple[Trial, ...] = ()

    @property
    def kill_rate(self) -> float | None:
        """Killed over tried, without accepted survivors; None when nothing was tried."""
        return kill_rate(self.operators, len(self.accepted))


def kill_rate(operators: Mapping[str, Row], accepted: int) -> float | None:
    """Killed over tried, without accepted survivors; None when nothing was tried."""
    counted = sum(row.tried for row in operators.values()) - accepted
    return sum(row.killed for row in operators.values()) / counted if counted else None


def matrix(found: Sequence[Trial], accepted: Sequence[Survivor] = ()) -> Matrix:
    """Count trials."""
    may = {survivor.id for survivor in accepted}
    unchanged = [trial for trial in found if trial.operator == CONTROL]
    found = [trial for trial in found if trial.operator != CONTROL]
    survivors = [trial for trial in found if not trial.killed]
    used = [name for name in OPERATORS if any(trial.operator == name for trial in found)]
    return Matrix(
        operators={name: _row([trial for trial in found if trial.operator == name]) for name in used},
        survivors=tuple(trial for trial in survivors if trial.id not in may),
        accepted=tuple(trial for trial in survivors if trial.id in may),
        stale=tuple(sorted(may - {trial.id for trial in survivors})),
        controls=len(unchanged),
        disturbed=tuple(trial for trial in unchanged if trial.killed),
    )


def read_accepted(path: Path = ACCEPTED) -> tuple[Survivor, ...]:
    """The accepted survivors of a file.

    Raises:
        AcceptedError: when it is no list of survivors.
    """
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8")) or []
        survivors = [Survivor.model_validate(entry) for entry in found] if isinstance(found, list) else None  # pyright: ignore[reportUnknownVariableType]  (whatever the file holds)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
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
