"""Counting verdicts: how many passed, and the mean of every score."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.analysis.clusters import clusters
from evals.analysis.metrics import samples
from evals.analysis.statistics import Estimate, estimate
from evals.jsonl import JsonLines
from evals.score import EVALUATORS, PASSED, Measured, Verdict


class Tally(BaseModel):
    """The verdicts of one play, counted.

    Attributes:
        scored: attempts that were scored; those with a harness error are not.
        harness_errors: attempts that the harness could not play.
        rates: for each evaluator, the user's own last, the mean of its scores (true is 1, false is 0); None if it
            scored none.
    """

    model_config = ConfigDict(frozen=True)

    verdicts: tuple[Verdict, ...]
    passed: int
    scored: int
    harness_errors: int
    rates: dict[str, float | None]

    @property
    def pass_rate(self) -> float | None:
        """Passed over scored; None if nothing was scored."""
        return self.passed / self.scored if self.scored else None

    @property
    def estimate(self) -> Estimate | None:
        """The pass rate by scenario with its interval over clusters; None if nothing was scored."""
        return estimate(samples(self.verdicts, PASSED), clusters(self.verdicts))

    def meets(self, min_pass_rate: float) -> bool:
        """Whether the pass rate is high enough; never with a harness error, or if nothing was scored.

        Args:
            min_pass_rate: the lowest acceptable pass rate, from 0 to 1.
        """
        rate = self.pass_rate
        return rate is not None and rate >= min_pass_rate and not self.harness_errors


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """Count verdicts."""
    scored = [verdict for verdict in verdicts if verdict.passed is not None]
    return Tally(
        verdicts=tuple(verdicts),
        passed=sum(verdict.passed is True for verdict in scored),
        scored=len(scored),
        harness_errors=sum(verdict.harness_error is not None for verdict in verdicts),
        rates={name: _rate(verdicts, name) for name in _names(verdicts)},
    )


def write_verdicts(path: Path, verdicts: Sequence[Verdict], *, measured: bool = True) -> None:
    """Write verdicts as JSON lines.

    Args:
        measured: whether to include measurements; a baseline has only what is the same every time.
    """
    JsonLines(path, Verdict).write(verdict if measured else bare(verdict) for verdict in verdicts)


def bare(verdict: Verdict) -> Verdict:
    """A verdict without what differs from one play to the next: measurements, and reasons that quote addresses."""
    scores = tuple(score.model_copy(update={"reason": ""}) for score in verdict.scores)
    return verdict.model_copy(update={"measured": Measured(), "scores": scores})


def read_verdicts(path: Path) -> Iterator[Verdict]:
    """The verdicts of a file, in order.

    Raises:
        JsonLinesError: at a line that is not a verdict.
    """
    return JsonLines(path, Verdict).read()


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    """Every evaluator, then the user's own in the order in which they come."""
    return list(dict.fromkeys([*EVALUATORS, *(score.name for verdict in verdicts for score in verdict.scores)]))


def _rate(verdicts: Sequence[Verdict], name: str) -> float | None:
    scored = [float(value) for verdict in verdicts if (value := verdict.value(name)) is not None]
    return sum(sorted(scored)) / len(scored) if scored else None
