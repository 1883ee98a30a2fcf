"""What rounds of two sides say: median ratio, interval and verdict, on figures whose truth is known."""

import random
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.against.ratio import CONFIDENCE, compare, interval, verdict

MARGIN = 0.03


def rounds(slower: float, *, count: int = 24, seed: int = 1) -> list[tuple[float, float]]:
    """Rounds of 100 ms with noise of both sides, and a round now and then that the machine disturbed."""
    chance = random.Random(seed)  # noqa: S311 - the same noise every time

    def figure(scale: float) -> float:
        return 100 * scale * chance.lognormvariate(0, 0.03) * (3 if chance.random() < 0.1 else 1)

    return [(figure(slower), figure(1.0)) for _ in range(count)]


def test_equal_sides_have_a_ratio_of_one_and_are_no_worse() -> None:
    ratio = compare([(5.0, 5.0)] * 10, margin=MARGIN)
    assert (ratio.median, ratio.low, ratio.high, ratio.verdict) == (1.0, 1.0, 1.0, "no worse")


def test_equal_sides_under_noise_are_hardly_ever_called_worse() -> None:
    verdicts = [compare(rounds(1.0, seed=seed), margin=MARGIN).verdict for seed in range(200)]
    assert verdicts.count("worse") + verdicts.count("better") <= 2


def test_a_side_that_is_slower_by_a_third_is_worse_beyond_noise() -> None:
    verdicts = [compare(rounds(1.33, seed=seed), margin=MARGIN).verdict for seed in range(50)]
    assert verdicts.count("worse") >= 48


def test_a_side_that_is_faster_by_a_quarter_is_better() -> None:
    verdicts = [compare(rounds(0.75, seed=seed), margin=MARGIN).verdict for seed in range(50)]
    assert verdicts.count("better") >= 48


def test_a_rate_that_is_lower_is_worse_and_its_ratio_above_one() -> None:
    ratio = compare([(8.0, 10.0)] * 10, margin=MARGIN, higher_is_better=True)
    assert ratio.median == pytest.approx(1.25)
    assert ratio.verdict == "worse"


def test_a_difference_within_the_margin_is_no_worse() -> None:
    assert compare([(102.0, 100.0)] * 10, margin=MARGIN).verdict == "no worse"


def test_exact_figures_need_neither_margin_nor_rounds() -> None:
    assert compare([(16_882, 16_881)]).verdict == "worse"
    assert compare([(16_881, 16_881)]).verdict == "no worse"


def test_a_single_round_of_a_figure_with_noise_says_nothing() -> None:
    ratio = compare([(200.0, 100.0)], margin=MARGIN)
    assert (ratio.low, ratio.high, ratio.verdict) == (0.0, inf, "unclear")


def test_a_few_rounds_that_differ_much_are_unclear() -> None:
    assert compare([(150.0, 100.0), (110.0, 100.0)], margin=MARGIN).verdict == "unclear"


def test_a_wide_interval_around_one_is_not_called_no_worse() -> None:
    assert verdict(0.7, 1.6, MARGIN) == "unclear"


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    chance = random.Random(7)  # noqa: S311 - the same figures every time
    held = 0
    for _ in range(400):
        low, high = interval([chance.lognormvariate(0, 0.2) for _ in range(12)])
        held += low <= 1.0 <= high
    assert held / 400 >= CONFIDENCE - 0.015


@pytest.mark.parametrize("wrong", [[], [(1.0, 0.0)], [(-1.0, 1.0)]])
def test_rounds_without_figures_above_zero_are_refused(wrong: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        compare(wrong)


figures = st.floats(0.001, 1e6)


@given(st.lists(st.tuples(figures, figures), min_size=2, max_size=30))
def test_the_median_lies_in_its_interval_and_changing_sides_turns_the_verdict(pairs: list[tuple[float, float]]) -> None:
    ratio = compare(pairs, margin=MARGIN)
    assert ratio.low <= ratio.median * (1 + 1e-12)
    assert ratio.median <= ratio.high * (1 + 1e-12)
    if len(pairs) >= 8:
        turned = compare([(theirs, ours) for ours, theirs in pairs], margin=MARGIN)
        assert (ratio.verdict == "worse") == (turned.verdict == "better")
