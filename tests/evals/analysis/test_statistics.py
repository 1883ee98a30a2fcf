"""The statistics against known values, simulations, and the laws that they must keep."""

import random
from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.statistics import (
    compare_paired,
    estimate,
    flaky,
    holm,
    macro,
    pass_at_k,
    pass_hat_k,
    smallest_effect,
    wilson,
)


def test_pass_at_k_and_pass_hat_k_are_the_share_of_draws() -> None:
    """Against every draw of k from the tries, counted one by one."""
    for tries, passed, k in [(5, 2, 1), (5, 2, 3), (6, 0, 2), (6, 6, 4), (4, 3, 4)]:
        values = [1] * passed + [0] * (tries - passed)
        draws = [pick for pick in product(range(tries), repeat=k) if len(set(pick)) == k]
        assert pass_at_k(tries, passed, k) == pytest.approx(fmean(any(values[i] for i in pick) for pick in draws))
        assert pass_hat_k(tries, passed, k) == pytest.approx(fmean(all(values[i] for i in pick) for pick in draws))


@given(st.integers(1, 30), st.data())
def test_more_tries_help_one_and_hurt_all(tries: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, tries))
    at = [pass_at_k(tries, passed, k) for k in range(1, tries + 1)]
    hat = [pass_hat_k(tries, passed, k) for k in range(1, tries + 1)]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert at[0] == pytest.approx(passed / tries)
    assert hat[0] == pytest.approx(passed / tries)
    assert all(0 <= low <= high + 1e-12 <= 1 + 1e-9 for low, high in zip(hat, at, strict=True))


@pytest.mark.parametrize(("tries", "passed", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_counts_that_cannot_be_are_refused(tries: int, passed: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"tries|passed"):
        pass_at_k(tries, passed, k)


def test_averages_leave_out_scenarios_played_too_seldom() -> None:
    sample = {"a": [1.0, 0.0], "b": [1.0], "c": [0.0, 0.0]}
    assert macro(sample, 1) == pytest.approx((0.5 + 1 + 0) / 3)
    assert macro(sample, 2) == pytest.approx((1 + 0) / 2)
    assert macro(sample, 2, every=True) == 0
    assert macro(sample, 3) is None


def test_the_figures_are_those_of_earlier_reports() -> None:
    """Reports are compared over time: another way of computing must give what was printed before."""
    assert wilson(0, 7) == pytest.approx((0.0, 0.3543304350666874))
    assert wilson(7, 7) == pytest.approx((0.6456695649333126, 1.0))
    assert wilson(84, 184) == pytest.approx((0.38617350009861706, 0.5286482857816078))
    assert wilson(1, 1) == pytest.approx((0.20654931437723742, 1.0))
    first = {f"s{i}": [(i * 7 % 10) / 10, (i * 3 % 5) / 5] for i in range(25)}
    second = {f"s{i}": [(i * 3 % 10) / 10] for i in range(25)}
    graded = estimate(first)
    assert graded is not None
    assert (graded.mean, graded.low, graded.high) == pytest.approx((0.42, 0.3320317459986052, 0.5079682540013948))
    compared = compare_paired(first, second)
    assert compared is not None
    figures = (compared.difference, compared.low, compared.high, compared.p, compared.smallest_effect)
    known = (0.02, -0.1256962310502219, 0.16569623105022188, 0.7854, 0.19777154499448674)
    assert figures == pytest.approx(known)


def test_wilson_has_its_published_values() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-4)
    assert wilson(20, 20)[1] == 1.0


def test_an_interval_of_repeats_rests_on_the_spread_between_scenarios() -> None:
    """By hand: means 1, 0.5, 0; sd 0.5; half-width t(2) * 0.5 / sqrt(3)."""
    found = estimate({"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0]})
    assert found is not None
    assert (found.mean, found.scenarios, found.method) == (0.5, 3, "t")
    assert (found.low, found.high) == (0.0, 1.0)
    wide = estimate({str(n): [n % 2, n % 2, 1 - n % 2, n % 2] for n in range(40)})
    assert wide is not None
    assert wide.high - wide.mean == pytest.approx(2.0227 * 0.25318 / 40**0.5, rel=1e-3)


def test_repeating_the_same_plays_does_not_narrow_the_interval() -> None:
    once = {str(n): [float(n % 3 == 0), float(n % 2 == 0)] for n in range(30)}
    often = {name: values * 10 for name, values in once.items()}
    assert estimate(once) == estimate(often)


def test_single_plays_get_a_wilson_interval_and_one_scenario_none() -> None:
    single = estimate({"a": [1.0], "b": [0.0]})
    assert single is not None
    assert single.method == "wilson"
    one = estimate({"a": [1.0, 0.5]})
    assert one is not None
    assert (one.low, one.high, one.method) == (0.0, 1.0, "none")
    assert estimate({}) is None


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    draw = random.Random(7)  # noqa: S311  (a simulation, no secret)
    covered = 0
    for _ in range(400):
        chances = [draw.betavariate(2, 1) for _ in range(120)]
        sample = {str(n): [float(draw.random() < p) for _ in range(5)] for n, p in enumerate(chances)}
        found = estimate(sample)
        assert found is not None
        covered += found.low <= 2 / 3 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_comparison_sees_what_differs_and_not_what_does_not() -> None:
    base = {str(n): [float(n % 2)] for n in range(20)}
    same = compare_paired(base, base)
    assert same is not None
    assert (same.difference, same.p) == (0.0, 1.0)
    better = compare_paired(base, {name: [1.0] for name in base})
    assert better is not None
    assert better.difference == 0.5
    assert better.p < 0.01
    assert compare_paired(base, {"else": [1.0]}) is None
    assert compare_paired(base, {name: [1.0] for name in base}) == better, "the same data give the same p-value"


def test_a_permutation_test_over_few_scenarios_tries_every_pattern() -> None:
    """Three differences of one sign: 2 of the 8 patterns are as extreme."""
    found = compare_paired({"a": [0.0], "b": [0.0], "c": [0.0]}, {"a": [1.0], "b": [1.0], "c": [1.0]})
    assert found is not None
    assert found.p == pytest.approx(0.25)


def test_false_alarms_come_as_rarely_as_they_should() -> None:
    draw = random.Random(3)  # noqa: S311  (a simulation, no secret)
    alarms = 0
    for _ in range(60):
        first = {str(n): [float(draw.random() < 0.6)] for n in range(24)}
        second = {str(n): [float(draw.random() < 0.6)] for n in range(24)}
        found = compare_paired(first, second)
        assert found is not None
        alarms += found.p < 0.05
    assert alarms <= 8


def test_holm_has_its_textbook_values() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert holm({}) == {}


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(values: dict[str, float]) -> None:
    adjusted = holm(values)
    assert list(adjusted) == list(values)
    assert all(values[name] <= adjusted[name] <= 1 for name in values)
    ranked = sorted(values, key=lambda name: values[name])
    assert [adjusted[name] for name in ranked] == sorted(adjusted[name] for name in ranked)


def test_the_smallest_effect_is_the_one_of_the_formula() -> None:
    assert smallest_effect(0.3162, 120) == pytest.approx(0.0809, abs=5e-4)
    with pytest.raises(ValueError, match="at least one"):
        smallest_effect(0.3, 0)


def test_a_scenario_that_passes_and_fails_is_flaky() -> None:
    assert flaky({"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.0]}) == ["a"]
