"""A scenario in which something is built gives other outputs for other inputs, so that a flow that reads none fails."""

from evals.behaviours.derivation import inputs_of
from evals.behaviours.outcomes import Outcome
from evals.behaviours.recorded import flow_key, packaged
from evals.oracles.unread_input import reads_input
from evals.scenario import Scenario
from evals.scenarios.coverage import kind_of
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from scripts.task_set import engine_catalogue
from tests.evals.conftest import scenarios

KNOWN = packaged()


def recorded(scenario: Scenario, catalogue: Catalogue) -> list[Outcome]:
    """What the reference gives on the scenario's inputs, as recorded."""
    key = flow_key(read_flow(scenario.reference or "", catalogue), scenario, catalogue.version)
    found = (KNOWN.outcome(key, each) for each in inputs_of(scenario, catalogue))
    return [outcome for outcome in found if outcome is not None]


def test_what_is_typed_decides_what_a_flow_that_is_built_gives() -> None:
    catalogue = engine_catalogue()
    builds = [one for one in scenarios() if kind_of(one) == "build" and one.inputs and not one.components]
    typed = [one for one in builds if one.reference and reads_input(read_flow(one.reference, catalogue))]
    assert len(typed) >= 90
    constant = [one.id for one in typed if len({repr(outcome) for outcome in recorded(one, catalogue)}) < 2]
    assert constant == []
