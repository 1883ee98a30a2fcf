"""Statements about answers: a measured judge decides whether an attempt passes, another leaves it open."""

import pytest

from evals.calibration.calibration import Calibration, calibration_of
from evals.calibration.statements import JUDGED, Decided, decide_statements, with_decisions
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt
from flows.catalogue import Catalogue
from tests.evals.calibration.test_calibration import good, rows, scripted, some
from tests.evals.conftest import Played, scenario_named

ASKED = scenario_named("question-count")
SCENARIO = ASKED.model_copy(
    update={
        "turns": tuple(
            turn.model_copy(update={"statements": ("It says yes.", "It is polite.")}) for turn in ASKED.turns
        )
    }
)


@pytest.fixture(scope="module")
def measured() -> Calibration:
    """The calibration of a judge that may decide."""
    return calibration_of(some(420, 0), "scripted", "2026-11-25")


def decided_of(verdict: Verdict, *decisions: str) -> list[Decided]:
    """Decisions about an attempt."""
    key = verdict.model_dump(include={"scenario", "digest", "repeat", "player"})
    rest = {"judge": "j", "message": 0, "statement": "It is so.", "reason": "Because."}
    return [Decided.model_validate(key | rest | {"decision": decision}) for decision in decisions]


def verdict(*, passed: bool | None = True, error: str | None = None) -> Verdict:
    return Verdict(scenario="s", digest="d", player="p", passed=passed, scores=(), harness_error=error)


@pytest.mark.anyio
async def test_a_measured_judge_decides_each_statement(
    played: Played, catalogue: Catalogue, measured: Calibration
) -> None:
    attempt = played(SCENARIO, None, text="yes, two")
    found = await decide_statements(SCENARIO, attempt, catalogue, scripted(good), measured, rows())
    assert [(one.message, one.statement, one.decision) for one in found] == [
        (0, "It says yes.", "passed"),
        (0, "It is polite.", "passed"),
    ]
    open_ones = await decide_statements(SCENARIO, attempt, catalogue, scripted(good), None, rows())
    assert {(one.decision, one.reason) for one in open_ones} == {("undecided", "the judge was not measured")}


@pytest.mark.anyio
async def test_saying_nothing_fails_and_a_failure_of_the_harness_is_open(
    played: Played, catalogue: Catalogue, measured: Calibration
) -> None:
    async def decisions(scenario: Scenario, text: str, **more: object) -> set[tuple[str, str]]:
        attempt = played(scenario, None, text=text, **more)
        found = await decide_statements(scenario, attempt, catalogue, scripted(good), measured, rows())
        return {(one.decision, one.reason) for one in found}

    assert await decisions(SCENARIO, "  ") == {("failed", "nothing was answered")}
    assert (await decisions(SCENARIO, "yes", harness_error="it broke")).pop()[0] == "undecided"
    assert await decisions(ASKED, "yes") == set()


@pytest.mark.parametrize(
    ("decisions", "before", "after", "score"),
    [
        (("passed", "passed"), True, True, True),
        (("passed", "failed"), True, False, False),
        (("undecided", "failed"), True, False, False),
        (("passed", "undecided"), True, None, None),
        (("passed", "undecided"), False, False, None),
        (("passed",), False, False, True),
        (("passed",), None, True, True),
        (("failed",), None, False, False),
        (("undecided",), None, None, None),
    ],
)
def test_a_statement_that_failed_fails_and_an_open_one_leaves_it_open(
    decisions: tuple[str, ...], before: bool | None, after: bool | None, score: bool | None
) -> None:
    given = verdict(passed=before)
    found = with_decisions(given, decided_of(given, *decisions))
    assert (found.passed, found.value(JUDGED)) == (after, score)
    assert ("not true: It is so. Because." in found.why) is (score is False)


def test_decisions_about_others_and_faults_of_the_harness_change_nothing() -> None:
    given = verdict()
    other = [one.model_copy(update={"repeat": 1}) for one in decided_of(given, "failed")]
    assert with_decisions(given, other) == given
    broken = verdict(passed=None, error="it broke")
    assert with_decisions(broken, decided_of(broken, "failed")) == broken


def test_statements_change_a_scenario_s_digest_only_where_there_are_some(played: Played, catalogue: Catalogue) -> None:
    assert ASKED.digest != SCENARIO.digest
    assert "statements" not in ASKED.model_dump_json()
    assert JUDGED not in {score.name for score in score_attempt(ASKED, played(ASKED, None, text="x"), catalogue).scores}
