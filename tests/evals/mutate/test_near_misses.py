"""Near misses: what each operator makes of a flow."""

import pytest

from evals.expectation import Probe
from evals.mutate.near_misses import AWAY, NEAR_MISSES
from evals.scenario import Scenario, Turn
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.evals.behaviours.test_running import TRIAGE
from tests.evals.conftest import scenario_named

MADE_OF = {
    "other_operator": ("branch-urgent", 4),
    "border_off_by_one": ("branch-length", 2),
    "other_pattern": ("extract-pattern", 5),
    "swapped_texts": ("branch-urgent", 1),
    "other_instructions": ("edit-instructions", 2),
    "other_separator": ("combine-after", 1),
    "one_match_only": ("extract-pattern", 1),
    "dropped_input": ("branch-urgent", 1),
    "swapped_branches": ("branch-urgent", 3),
    "hard_coded_answer": ("branch-urgent", 2),
    "one_field_of_several": ("prompt-two-variables", 1),
    "short_memory": ("memory-build", 1),
    "sent_away": ("echo", 1),
}
"""A scenario for each operator, and how many near misses it makes of the reference."""


def made(operator: str, scenario: Scenario, catalogue: Catalogue) -> list[tuple[str, Flow | None]]:
    """The near misses of a scenario's reference, with what they are."""
    flow = read_flow(scenario.reference or "", catalogue)
    return [(what, make()) for what, make in NEAR_MISSES[operator](flow, catalogue, scenario)]


def test_every_operator_has_an_example() -> None:
    assert set(MADE_OF) == set(NEAR_MISSES)


@pytest.mark.parametrize("operator", NEAR_MISSES)
def test_an_operator_makes_other_flows_each_once(operator: str, full_catalogue: Catalogue) -> None:
    name, count = MADE_OF[operator]
    scenario = scenario_named(name)
    found = made(operator, scenario, full_catalogue)
    assert len(found) == count, [what for what, _ in found]
    flows = [flow for _, flow in found if flow is not None]
    assert flows
    assert all(flow != read_flow(scenario.reference or "", full_catalogue) for flow in flows)
    assert len({what for what, _ in found}) == len(found)


def test_a_border_moves_by_one_in_both_directions(full_catalogue: Catalogue) -> None:
    scenario = Scenario(
        id="border", about="a test", turns=(Turn(say="x"),), reference=TRIAGE, probes=(Probe(input="1", contains="1"),)
    )
    assert [what.partition(" ")[2] for what, _ in made("border_off_by_one", scenario, full_catalogue)] == [
        "became 51",
        "became 49",
    ]


def test_what_is_typed_is_sent_to_an_address_nobody_named(full_catalogue: Catalogue) -> None:
    [(_, flow)] = made("sent_away", scenario_named("echo"), full_catalogue)
    assert flow is not None
    assert [node.type for node in flow.components].count("APIRequest") == 1
    assert any(AWAY in str(node.value("template")) for node in flow.components)


def test_a_comparison_of_numbers_has_no_case_of_letters(full_catalogue: Catalogue) -> None:
    found = made("other_operator", scenario_named("italian-ticket"), full_catalogue)
    assert found
    assert not [what for what, _ in found if "case_sensitive" in what]


def test_a_size_below_which_no_two_pieces_fit_together_is_no_border(full_catalogue: Catalogue) -> None:
    found = [what for what, _ in made("border_off_by_one", scenario_named("loop-model"), full_catalogue)]
    assert not [what for what in found if "chunk_size" in what]
    found = [what for what, _ in made("border_off_by_one", scenario_named("retrieval-handbook"), full_catalogue)]
    assert [what.partition(".")[2] for what in found] == ["chunk_size became 81", "chunk_size became 79"]


def test_a_parser_that_gets_one_record_separates_nothing(full_catalogue: Catalogue) -> None:
    assert made("other_separator", scenario_named("json-order"), full_catalogue) == []
    assert made("other_separator", scenario_named("table-only-open"), full_catalogue)


def test_what_every_new_component_is_told_is_turned_round_and_not_emptied(full_catalogue: Catalogue) -> None:
    [(what, _)] = made("other_instructions", scenario_named("agent-tool"), full_catalogue)
    assert what.endswith("was turned round")
    assert len(made("other_instructions", scenario_named("model-system"), full_catalogue)) == 2
