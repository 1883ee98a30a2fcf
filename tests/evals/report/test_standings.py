"""The figures: what counts, what does not, and what a baseline can be compared with."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.analysis.metrics import DECLARED
from evals.attempt import Attempt, Versions
from evals.report.baseline import compare_with_baseline
from evals.report.play import Entry, Play, score_play
from evals.report.standings import Costs, costs, standings
from evals.scenario import Scenario, Turn
from evals.score import Measured, Verdict
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played


def scenario(name: str) -> Scenario:
    """A scenario that asks for nothing but an answer."""
    turn = Turn.model_validate_json('{"say": "hi", "should": "answer", "answer": [{"contains": "hi"}]}')
    return Scenario(id=name, about="A test.", tags=("one",), turns=(turn,))


def verdict(name: str, repeat: int, passed: bool | None, *, player: str = "p", digest: str = "d") -> Verdict:
    """A verdict without scores."""
    error = "it broke" if passed is None else None
    measured = Measured(seconds=2.0, tokens=100, calls=3)
    found = Verdict(scenario=name, repeat=repeat, player=player, passed=passed, scores=(), measured=measured)
    return found.model_copy(update={"digest": digest, "harness_error": error})


def play_of(*verdicts: Verdict) -> Play:
    """A play that came to these verdicts."""
    entries = [
        Entry(
            column=one.player,
            attempt=Attempt(scenario=one.scenario, digest=one.digest, repeat=one.repeat, player=one.player),
            verdict=one,
            case=None,
        )
        for one in verdicts
    ]
    return Play(scenarios={one.scenario: scenario(one.scenario) for one in verdicts}, entries=tuple(entries))


def test_tries_that_differ_make_a_scenario_flaky_and_part_the_two_rates() -> None:
    (found,) = standings(
        play_of(verdict("a", 0, True), verdict("a", 1, False), verdict("b", 0, True), verdict("b", 1, True))
    )
    assert found.flaky == ("a",)
    assert found.pass_at_k == {1: 0.75, 2: 1.0}
    assert found.pass_hat_k == {1: 0.75, 2: 0.5}
    assert (found.passed, found.scored, found.repeats) == (3, 4, 2)
    assert found.tags.keys() == {"one"}


def test_a_harness_error_is_neither_a_failure_nor_a_cost() -> None:
    (found,) = standings(play_of(verdict("a", 0, True), verdict("b", 0, None)))
    assert (found.attempts, found.scored, found.harness_errors) == (2, 1, 1)
    assert found.rate is not None
    assert (found.rate.mean, found.rate.scenarios) == (1.0, 1)
    assert found.costs == Costs(seconds=2.0, tokens=100.0, calls=3.0, tokens_per_pass=100.0)


def test_what_was_not_measured_is_not_zero() -> None:
    quiet = verdict("a", 0, False).model_copy(update={"measured": Measured(seconds=1.0)})
    assert costs([quiet]) == Costs(seconds=1.0, tokens=None, calls=None, tokens_per_pass=None)


def test_a_baseline_is_compared_where_both_played_the_same_content() -> None:
    now = play_of(
        verdict("a", 0, False), verdict("b", 0, True), verdict("c", 0, True, digest="new"), verdict("e", 0, True)
    )
    before = [verdict("a", 0, True), verdict("b", 0, True), verdict("c", 0, True), verdict("d", 0, True)]
    (found,) = compare_with_baseline(now, before)
    assert [(one.scenario, one.before, one.now) for one in found.worse] == [("a", 1.0, 0.0)]
    assert found.better == ()
    assert (found.changed, found.missing, found.new) == (("c",), ("d",), ("e",))
    assert [one.metric for one in found.tested] == ["passed"]


@pytest.mark.parametrize(
    ("there", "partner"), [(("p", "q"), "p"), (("q",), "q"), (("q", "r"), None)], ids=["same", "only", "ambiguous"]
)
def test_a_player_is_compared_with_the_one_of_the_same_name_or_the_only_one(
    there: tuple[str, ...], partner: str | None
) -> None:
    found = compare_with_baseline(
        play_of(verdict("a", 0, True)), [verdict("a", 0, True, player=name) for name in there]
    )
    assert [one.baseline for one in found] == ([] if partner is None else [partner])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
@settings(max_examples=25)
def test_a_play_beside_itself_differs_in_nothing(results: list[tuple[bool, bool]]) -> None:
    verdicts = [verdict(f"s{n}", repeat, value) for n, pair in enumerate(results) for repeat, value in enumerate(pair)]
    (found,) = compare_with_baseline(play_of(*verdicts), verdicts)
    assert (found.worse, found.better) == ((), ())
    assert {(one.difference, one.adjusted) for one in found.tested} == {(0.0, 1.0)}
    assert {one.metric for one in found.tested} <= set(DECLARED)


def test_one_player_on_two_versions_is_two_columns(played: Played, catalogue: Catalogue) -> None:
    (first, *_) = played.of("null")
    other = first.model_copy(update={"versions": Versions(prompts="0123456789", tools="t", lfx="1.13.0")})
    play = score_play(played.scenarios, [first, other, first], catalogue)
    assert len(play.entries) == 2
    assert "null (prompts 012345, tools t, lfx 1.13.0)" in play.columns
