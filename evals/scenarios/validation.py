"""Checking the flows of scenarios: every text that must be a flow is built."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from evals.play.user_components import make_user_components, with_user_components
from evals.scenario import Scenario
from evals.scenarios.flows import BadFlow, read_flow
from flows.catalogue import Catalogue
from tools.workbench import FlowRunner


class InvalidFlow(BaseModel):
    """A text of a scenario that should be a flow and is not.

    Attributes:
        place: the name of the text, such as `alternative 2`.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    place: str
    message: str


async def invalid_flows(
    scenarios: Iterable[Scenario], catalogue: Catalogue, runner: FlowRunner | None = None
) -> list[InvalidFlow]:
    """Build every flow of scenarios: canvas, edits, the flows of messages, reference, alternatives and wrong ones.

    Args:
        runner: makes the scenarios' components; without one, scenarios with components are left out.

    Returns:
        The texts that do not build, in the order of the scenarios.
    """
    found: list[InvalidFlow] = []
    for scenario in scenarios:
        if scenario.components and runner is None:
            continue
        made = None if runner is None else await make_user_components(scenario.components, runner)
        known = catalogue if made is None else with_user_components(catalogue, made.types)
        for place, text in scenario.flows:
            try:
                read_flow(text, known)
            except BadFlow as bad:
                found.append(InvalidFlow(scenario=scenario.id, place=place, message=str(bad)))
    return found
