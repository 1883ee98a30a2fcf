"""Scoring: what counts, what does not, and what never changes a score."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.turn import TurnError, TurnResult
from evals.attempt import Attempt
from evals.evaluators import Score
from evals.scenario import Expectation, Probe, Scenario
from evals.score import EVALUATORS, Verdict, judge, score, tally
from flows.actions import SetFlow
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.faults import Fault
from flows.spec import build
from runtime.results import RunError, RunResult
from tests.stand_ins import ran

SCENARIO = Scenario(
    id="loud",
    about="A test.",
    prompts=("build it",),
    probes=(Probe(input="a", equals="A!"), Probe(input="b", contains="B")),
)


@pytest.fixture(scope="module")
def flow() -> Flow:
    """Some flow with one component."""
    node = {"id": "n-1", "data": {"id": "n-1", "type": "T", "node": {"template": {}}}}
    return Flow.from_json({"name": "f", "data": {"nodes": [node], "edges": []}})


def turn(flow: Flow, *, runs: Sequence[RunResult] = (), faults: Sequence[Fault] = (), acted: bool = True) -> TurnResult:
    """A turn that left a flow."""
    empty = Flow.empty()
    return TurnResult(
        outcome="complete",
        intent="action",
        text="done",
        before=empty,
        after=flow,
        actions=[SetFlow(old=empty.raw, new=flow.raw)] if acted else [],
        runs=list(runs),
        faults=list(faults),
        seconds=0.1,
    )


def attempt(*turns: TurnResult, probes: Sequence[RunResult] = (), harness_error: str | None = None) -> Attempt:
    """An attempt at the scenario."""
    return Attempt(
        scenario="loud", digest="d", player="test", turns=list(turns), probes=list(probes), harness_error=harness_error
    )


def values(scenario: Scenario, played: Attempt) -> dict[str, bool | float | None]:
    """The scores by name."""
    return {entry.name: entry.value for entry in judge(scenario, played).scores}


RIGHT = (ran("A!"), ran("xBx"))


def test_an_attempt_that_does_what_was_asked_passes(flow: Flow) -> None:
    verdict = judge(SCENARIO, attempt(turn(flow), probes=RIGHT))
    assert verdict.passed is True
    assert [entry.value for entry in verdict.scores] == [True, True, True, True]
    assert [entry.name for entry in verdict.scores] == list(EVALUATORS)


def test_one_wrong_probe_is_enough_to_fail(flow: Flow) -> None:
    played = attempt(turn(flow), probes=(ran("A!"), ran("wrong")))
    assert values(SCENARIO, played) == {"built": True, "valid": True, "ran": True, "resolved": False}
    verdict = judge(SCENARIO, played)
    assert verdict.passed is False
    assert verdict.scores[-1].reason == "probe 2 ('b') gave 'wrong', expected contains 'B'"


def test_nothing_done_scores_zero_on_what_matters() -> None:
    nothing = attempt(turn(Flow.empty(), acted=False))
    assert values(SCENARIO, nothing) == {"built": False, "valid": None, "ran": None, "resolved": False}
    assert judge(SCENARIO, nothing).passed is False


def test_words_without_deeds_are_not_built(flow: Flow) -> None:
    played = attempt(turn(flow, acted=False), probes=RIGHT)
    assert values(SCENARIO, played)["built"] is False


def test_an_error_of_the_checks_is_not_valid_and_a_warning_is(flow: Flow) -> None:
    warning = Fault(code="w", message="hm", fix="", severity="warning")
    error = Fault(code="e", message="bad", fix="")
    assert values(SCENARIO, attempt(turn(flow, faults=[warning]), probes=RIGHT))["valid"] is True
    assert values(SCENARIO, attempt(turn(flow, faults=[warning, error]), probes=RIGHT))["valid"] is False


def test_the_faults_of_the_last_turn_that_touched_the_flow_count(flow: Flow) -> None:
    error = Fault(code="e", message="bad", fix="")
    bad, good, talk = turn(flow, faults=[error]), turn(flow), turn(flow, acted=False)
    assert values(SCENARIO, attempt(bad, good, talk, probes=RIGHT))["valid"] is True
    assert values(SCENARIO, attempt(good, bad, talk, probes=RIGHT))["valid"] is False


def test_a_probe_that_fails_did_not_run(flow: Flow) -> None:
    failed = ran(error=RunError(code="crash", message="it fell over"))
    assert values(SCENARIO, attempt(turn(flow), probes=(failed, RIGHT[1])))["ran"] is False


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], False),
        ([ran("HELLO")], True),
        ([ran("wrong"), ran("HELLO")], True),
        ([ran("HELLO"), ran("wrong")], False),
        ([ran(error=RunError(code="timeout", message="slow"))], False),
    ],
    ids=["none", "right", "last right", "last wrong", "failed"],
)
def test_the_users_own_last_run_counts_when_one_was_asked_for(
    runs: list[RunResult], expected: bool, flow: Flow
) -> None:
    asked = SCENARIO.model_copy(update={"run": Expectation(equals="HELLO")})
    assert values(asked, attempt(turn(flow, runs=runs), probes=RIGHT))["ran"] is expected


def test_a_turn_that_failed_built_nothing(flow: Flow) -> None:
    failed = turn(flow).model_copy(update={"outcome": "error", "error": TurnError(code="x", message="no model")})
    verdict = judge(SCENARIO, attempt(failed))
    assert verdict.passed is False
    assert "no model" in verdict.scores[0].reason


def test_a_harness_error_is_not_scored_and_never_a_pass(flow: Flow) -> None:
    broken = attempt(turn(flow), probes=RIGHT, harness_error="the harness fell over")
    result = score([SCENARIO], [broken, attempt(turn(flow), probes=RIGHT)])
    assert [verdict.passed for verdict in result.verdicts] == [None, True]
    assert set(values(SCENARIO, broken).values()) == {None}
    assert (result.passed, result.scored, result.harness_errors, result.pass_rate) == (1, 1, 1, 1.0)
    assert result.rates["resolved"] == 1.0
    assert not result.meets(0.0)


def test_nothing_scored_meets_no_bar() -> None:
    assert score([SCENARIO], []).pass_rate is None
    assert not score([SCENARIO], []).meets(0.0)
    assert not score([SCENARIO], [attempt()]).meets(0.0)


def test_an_attempt_keeps_its_scores_through_the_journal(catalogue: Catalogue) -> None:
    built = build("nodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n", catalogue).flow
    assert built is not None
    played = attempt(turn(built, runs=[ran("x")]), probes=RIGHT)
    again = Attempt.model_validate_json(played.model_dump_json())
    assert judge(SCENARIO, again) == judge(SCENARIO, played)
    assert again.flow == built


verdicts = st.lists(
    st.builds(
        lambda passed, error, marks: Verdict(
            scenario="s",
            repeat=0,
            passed=passed,
            scores=tuple(Score(name=name, value=mark, reason="") for name, mark in zip(EVALUATORS, marks, strict=True)),
            seconds=0.0,
            harness_error=error,
        ),
        st.none() | st.booleans(),
        st.none() | st.just("broken"),
        st.tuples(*[st.none() | st.booleans() for _ in EVALUATORS]),
    ),
    max_size=8,
)


@settings(deadline=None)
@given(verdicts, st.randoms())
def test_the_order_of_attempts_changes_no_figure(found: list[Verdict], random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    shuffled = random.sample(found, len(found))
    one, other = tally(found), tally(shuffled)
    assert one.model_copy(update={"verdicts": ()}) == other.model_copy(update={"verdicts": ()})


@settings(deadline=None)
@given(verdicts, st.floats(0, 1), st.floats(0, 1))
def test_a_lower_bar_is_never_harder_to_meet(found: list[Verdict], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert tally(found).meets(low) or not tally(found).meets(high)


@settings(deadline=None)
@given(verdicts)
def test_what_is_not_scored_is_left_out_of_every_rate(found: list[Verdict]) -> None:
    for name, rate in tally(found).rates.items():
        marks = [entry.value for verdict in found for entry in verdict.scores if entry.name == name]
        scored = [mark for mark in marks if mark is not None]
        assert rate == (sum(scored) / len(scored) if scored else None)
