"""Every flow that is to be built can be built in several ways, and the scenario knows three of them."""

from evals.scenario import Scenario
from evals.scenarios.coverage import kind_of
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from scripts.task_set import engine_catalogue
from tests.evals.conftest import scenarios

WANTED = 3
BUILDS = [one for one in scenarios() if kind_of(one) == "build"]


def structure(flow: Flow) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The types of a flow's components and of what is connected, without names and settings."""
    types = {node.id: node.type for node in flow.components}
    edges = [(types[edge.source], edge.source_port, types[edge.target], edge.target_port) for edge in flow.edges]
    return tuple(sorted(types.values())), tuple(sorted(edges))


def further_structures(scenario: Scenario, catalogue: Catalogue) -> int:
    """How many structures its right flows have beside that of the reference."""
    return len({structure(read_flow(text, catalogue)) for _, text in scenario.right}) - 1


def test_every_build_has_three_right_flows_of_other_structures_or_says_why_not() -> None:
    catalogue = engine_catalogue()
    counted = {one.id: further_structures(one, catalogue) for one in BUILDS if not one.components}
    excused = {one.id for one in scenarios() if one.few}
    assert {name for name, count in counted.items() if count < WANTED} == excused
    assert len(counted) - len(excused) >= 0.95 * len(counted)


def test_builds_with_component_types_of_their_own_have_three_further_right_flows() -> None:
    own = [one for one in BUILDS if one.components]
    assert own
    assert all(len(set(one.alternatives)) >= WANTED for one in own)
