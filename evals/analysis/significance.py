"""Whether two plays of a sampled model differ significantly: every declared metric, tested together."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from evals.analysis.metrics import DECLARED, MetricComparison, compare_metrics, samples
from evals.analysis.statistics import flaky, macro
from evals.score import PASSED, Verdict

ALPHA = 0.05
"""The adjusted p-value below which a difference counts."""


class Significance(BaseModel):
    """The significance of the differences between two plays.

    Attributes:
        tested: the declared metrics that both plays have for at least one scenario.
        untested: the other declared metrics.
        flaky: the scenarios of the second play whose repeats do not all agree about passing.
    """

    model_config = ConfigDict(frozen=True)

    tested: tuple[MetricComparison, ...] = ()
    untested: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()


class Repeated(BaseModel):
    """How often a player passes with k tries, averaged over scenarios.

    Attributes:
        at_least_one: pass@k, the chance that at least one try passes.
        every_one: pass^k, the chance that every try passes.
    """

    model_config = ConfigDict(frozen=True)

    k: int
    at_least_one: float
    every_one: float


def significance(
    before: Sequence[Verdict], after: Sequence[Verdict], metrics: Sequence[str] = DECLARED
) -> Significance:
    """Test the declared metrics over the scenarios that both plays have with the same content."""
    digests = {verdict.scenario: verdict.digest for verdict in before}
    now = [verdict for verdict in after if digests.get(verdict.scenario) == verdict.digest]
    tested = compare_metrics(before, now, metrics)
    return Significance(
        tested=tested,
        untested=tuple(metric for metric in dict.fromkeys(metrics) if metric not in {one.metric for one in tested}),
        flaky=tuple(flaky(samples(after, PASSED))),
    )


def objections(found: Significance, alpha: float = ALPHA, sees: float | None = None) -> list[str]:
    """Why a play fails, a line for each reason.

    Args:
        alpha: the adjusted p-value below which a fall is significant.
        sees: the fall that every test must be able to detect with 80% power; None for any.
    """
    lines = [
        f"{metric} cannot be tested: the plays share no scenario at which it is scored" for metric in found.untested
    ]
    lines += [f"{one.metric} fell: {one}" for one in found.tested if one.fell(alpha)]
    if sees is not None:
        lines += [
            f"{one.metric}: this play can see a fall of {one.smallest_effect:.1%}, one of {sees:.1%} is wanted"
            for one in found.tested
            if one.smallest_effect > sees
        ]
    return lines


def repeated(verdicts: Sequence[Verdict]) -> tuple[Repeated, ...]:
    """pass@k and pass^k for every k up to the number of repeats; a single try is the pass rate and is left out."""
    passed = samples(verdicts, PASSED)
    repeats = max((len(tries) for tries in passed.values()), default=0)
    found: list[Repeated] = []
    for k in range(2, repeats + 1):
        one, every = macro(passed, k), macro(passed, k, every=True)
        if one is not None and every is not None:
            found.append(Repeated(k=k, at_least_one=one, every_one=every))
    return tuple(found)
