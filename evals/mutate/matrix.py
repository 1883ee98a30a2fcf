"""The matrix of operators and evaluators, the kill rate, and the survivors that were looked at and accepted."""

from __future__ import annotations

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
        id: the mutant's.
        because: why it is no worse than what it came from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    because: str


@dataclass(frozen=True)
class Matrix:
    """What the evaluators saw.

    Attributes:
        tried: mutants by operator.
        killed: those that at least one evaluator saw, by operator.
        failed: those whose verdict turned to fail, by operator.
        seen: by operator, how many each evaluator saw.
        survivors: those that none saw and nobody accepted.
        accepted: those that none saw and that were accepted.
        stale: accepted survivors that are no mutants any more, or are killed.
        controls: how many attempts were run and scored again unchanged; they are not mutants.
        disturbed: those of them in which an evaluator saw a fault all the same: what is killed says little then.
    """

    tried: Mapping[str, int]
    killed: Mapping[str, int]
    failed: Mapping[str, int]
    seen: Mapping[str, Mapping[str, int]]
    survivors: tuple[Trial, ...]
    accepted: tuple[Trial, ...]
    stale: tuple[str, ...]
    controls: int = 0
    disturbed: tuple[Trial, ...] = ()

    @property
    def kill_rate(self) -> float | None:
        """Killed over tried, without accepted survivors; None when nothing was tried."""
        counted = sum(self.tried.values()) - len(self.accepted)
        return sum(self.killed.values()) / counted if counted else None


def matrix(found: Sequence[Trial], accepted: Sequence[Survivor] = ()) -> Matrix:
    """Count trials.

    Args:
        found: what became of every mutant and control.
        accepted: the survivors that may be.
    """
    may = {survivor.id for survivor in accepted}
    unchanged = [trial for trial in found if trial.operator == CONTROL]
    found = [trial for trial in found if trial.operator != CONTROL]
    survivors = [trial for trial in found if not trial.killed]
    used = [name for name in OPERATORS if any(trial.operator == name for trial in found)]
    return Matrix(
        tried={name: sum(trial.operator == name for trial in found) for name in used},
        killed={name: sum(trial.operator == name and trial.killed for trial in found) for name in used},
        failed={name: sum(trial.operator == name and trial.failed for trial in found) for name in used},
        seen={name: _seen([trial for trial in found if trial.operator == name]) for name in used},
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


def _seen(found: Sequence[Trial]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for trial in found:
        for name in trial.seen_by:
            counts[name] = counts.get(name, 0) + 1
    return counts
