"""How well a judge's answers agree with labels: accuracy, sensitivity, specificity, Cohen's kappa, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Final

from pydantic import BaseModel, ConfigDict

from evals.analysis.statistics import wilson
from evals.calibration.answers import LabelledAnswer

RESAMPLES: Final = 2_000
"""Samples of the bootstrap."""

Judged = tuple[LabelledAnswer, bool | None]
"""An answer and what the judge says of its statement; None if it said nothing."""


class Share(BaseModel):
    """A share of answers with its interval at 95%.

    Attributes:
        value: None where there was nothing to share out.
        low: the lower end of Wilson's interval (Wilson 1927).
    """

    model_config = ConfigDict(frozen=True)

    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    count: int = 0


class Kappa(BaseModel):
    """Cohen's kappa with a percentile interval of a bootstrap over answers."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float


class Agreement(BaseModel):
    """How a judge agrees with the labels; an answer that it does not judge counts as wrong.

    Attributes:
        accuracy: the share judged as labelled.
        sensitivity: of the true statements, the share judged true.
        specificity: of the false statements, the share judged false.
        unanswered: on how many the judge said nothing.
    """

    model_config = ConfigDict(frozen=True)

    accuracy: Share
    sensitivity: Share
    specificity: Share
    kappa: Kappa
    unanswered: int = 0


def agreement(judged: Sequence[Judged]) -> Agreement:
    """Measure a judge.

    Raises:
        ValueError: there is no answer.
    """
    if not judged:
        raise ValueError("no answer was judged")
    return Agreement(
        accuracy=_share(said == row.label for row, said in judged),
        sensitivity=_share(said is True for row, said in judged if row.label),
        specificity=_share(said is False for row, said in judged if not row.label),
        kappa=_kappa([(row.label, said == row.label) for row, said in judged]),
        unanswered=sum(said is None for _, said in judged),
    )


def by_language(judged: Sequence[Judged]) -> dict[str, Share]:
    """The accuracy on the answers in each language."""
    return _accuracy(judged, [row.language for row, _ in judged])


def by_trap(judged: Sequence[Judged]) -> dict[str, Share]:
    """The accuracy on the answers with each trap; `none` is those without."""
    return _accuracy(judged, [row.trap or "none" for row, _ in judged])


def cohen_kappa(pairs: Iterable[tuple[bool, bool]]) -> float:
    """Cohen's kappa: (p_o - p_e) / (1 - p_e), the agreement beyond what chance would give (Cohen 1960).

    Args:
        pairs: the label and the judgement of each answer. If both are always the same value, chance explains all of it,
            and the result is 0.

    Raises:
        ValueError: there is no pair.
    """
    known = list(pairs)
    if not known:
        raise ValueError("kappa needs at least one pair")
    count = len(known)
    observed = sum(label == said for label, said in known) / count
    labelled, judged = (sum(pair[place] for pair in known) / count for place in (0, 1))
    expected = labelled * judged + (1 - labelled) * (1 - judged)
    return 0.0 if expected == 1 else (observed - expected) / (1 - expected)


def _share(right: Iterable[bool]) -> Share:
    found = list(right)
    if not found:
        return Share()
    low, high = wilson(sum(found), len(found))
    return Share(value=sum(found) / len(found), low=low, high=high, count=len(found))


def _accuracy(judged: Sequence[Judged], groups: Sequence[str]) -> dict[str, Share]:
    found: Mapping[str, list[bool]] = {name: [] for name in sorted(set(groups))}
    for (row, said), group in zip(judged, groups, strict=True):
        found[group].append(said == row.label)
    return {name: _share(right) for name, right in found.items()}


def _kappa(right: Sequence[tuple[bool, bool]]) -> Kappa:
    """Kappa from labels and whether the judge agreed: saying nothing is as wrong as saying the opposite."""
    pairs = [(label, label is agrees) for label, agrees in right]
    random = Random(0)  # noqa: S311  (a bootstrap: the same answers give the same interval)
    drawn = sorted(cohen_kappa(random.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    edge = round(0.025 * RESAMPLES)
    return Kappa(value=cohen_kappa(pairs), low=drawn[edge], high=drawn[-edge - 1])
