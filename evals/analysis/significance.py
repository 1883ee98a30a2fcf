"""Whether two plays of a sampled model differ by more than chance: every declared metric, tested together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict

from evals.analysis.metrics import DECLARED, PASSED, compare_metrics, samples
from evals.analysis.statistics import flaky, macro
from evals.score import Verdict

ALPHA = 0.05
"""The adjusted p-value below which a difference counts."""


class Tested(BaseModel):
    """One declared metric in two plays of the same scenarios.

    Attributes:
        before: the first play's mean of scenario means.
        after: the second's.
        difference: the mean of scenario differences, second minus first.
        low: the lower end of its 95% interval.
        p: of the sign-flip permutation test, two-sided.
        adjusted: the same after Holm's procedure over all declared metrics.
        smallest_effect: the difference that this comparison would have seen with 80% power.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    smallest_effect: float
    scenarios: int

    def fell(self, alpha: float) -> bool:
        """Whether the metric is lower by more than chance."""
        return self.difference < 0 and self.adjusted < alpha

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.before:.1%} -> {self.after:.1%}, difference {self.difference:+.1%} "
            f"[{self.low:+.1%}, {self.high:+.1%}], p {self.p:.4f}, adjusted {self.adjusted:.4f}, "
            f"smallest effect {self.smallest_effect:.1%}, {self.scenarios} scenarios"
        )


class Significance(BaseModel):
    """Two plays, tested.

    Attributes:
        tested: the declared metrics that both plays have for at least one scenario.
        untested: those that they do not.
        flaky: the scenarios of the second play whose repeats do not all agree about passing.
    """

    model_config = ConfigDict(frozen=True)

    tested: tuple[Tested, ...] = ()
    untested: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()


class Repeated(BaseModel):
    """How often a player passes when it may try more than once, averaged over scenarios.

    Attributes:
        at_least_one: pass@k, the chance that one of them passes.
        every_one: pass^k, the chance that all of them do.
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
    found = compare_metrics(before, now, metrics)
    return Significance(
        tested=tuple(
            Tested(metric=one.measure, before=one.before, after=one.now, adjusted=one.adjusted, **asdict(one.found))
            for one in found
        ),
        untested=tuple(metric for metric in dict.fromkeys(metrics) if metric not in {one.measure for one in found}),
        flaky=tuple(flaky(samples(after, PASSED))),
    )


def objections(found: Significance, alpha: float = ALPHA, sees: float | None = None) -> list[str]:
    """Why a play fails, one line for each reason.

    Args:
        alpha: the adjusted p-value below which a fall counts.
        sees: the fall that every test must be able to see with 80% power; None for any.
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
    most = max((len(tries) for tries in passed.values()), default=0)
    found: list[Repeated] = []
    for k in range(2, most + 1):
        one, every = macro(passed, k), macro(passed, k, every=True)
        if one is not None and every is not None:
            found.append(Repeated(k=k, at_least_one=one, every_one=every))
    return tuple(found)
