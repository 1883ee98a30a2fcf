"""What a scenario's statements leave open, and which right flow grades are measured on."""

from evals.case import Case
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.evals.conftest import Played, scenario_named, scenarios


def test_several_scenarios_have_statements_beside_facts_so_that_what_lacks_the_facts_fails_without_a_judge(
    played: Played, catalogue: Catalogue
) -> None:
    stated = [(one, turn) for one in scenarios() for turn in one.turns if turn.statements]
    assert len({one.id for one, _ in stated}) >= 4
    for one, turn in stated:
        assert turn.facts, one.id
        assert turn.fact_fault(turn.reply or "") == ""
        assert any(turn.fact_fault(wrong.reply or "") for wrong in one.wrong), one.id
    one, turn = next((one, turn) for one, turn in stated if one.canvas is None)
    right = score_attempt(one, played(one, None, text=turn.reply or ""), catalogue)
    assert (right.passed, right.undecided) == (None, turn.statements[0])
    for wrong in one.wrong:
        assert score_attempt(one, played(one, None, text=wrong.reply or ""), catalogue).passed is False


def test_a_flow_is_graded_by_one_right_flow_and_not_by_the_parts_of_several(
    played: Played, full_catalogue: Catalogue
) -> None:
    scenario = scenario_named("agent-four-tools")
    right = read_flow(scenario.alternatives[0], full_catalogue)
    mixed = read_flow(scenario.alternatives[0].replace("  news.search_mode: News\n", ""), full_catalogue)
    assert mixed != right

    def grades(flow: Flow) -> list[float]:
        case = Case(scenario, played(scenario, flow), full_catalogue)
        return [case.agreement(kind) for kind in ("node", "edge", "value")]

    assert grades(right) == [1.0, 1.0, 1.0]
    assert min(grades(mixed)) < 1.0
