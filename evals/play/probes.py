"""Running the probes of a flow again, with the scenario's services and models in place."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from evals.attempt import Attempt
from evals.play.addresses import with_addresses
from evals.play.environment import PlayEnvironment
from evals.play.flow_models import with_models
from evals.play.stub_services import serve
from evals.scenario import Scenario
from flows.diff import diff
from flows.document import Flow
from runtime.options import RunOptions
from tools.workbench import FlowRunner

PROBE_SECONDS = 30.0
PROBE_ITERATIONS = 200
"""Times that a node may be run by a probe here: flows that were broken on purpose often go round for ever."""


@dataclass(frozen=True)
class Rerun:
    """An attempt whose services are served again.

    Attributes:
        scenario: with the addresses of its services in place.
        attempt: with the same addresses.
        runner: runs flows with the scenario's models.
    """

    scenario: Scenario
    attempt: Attempt
    runner: FlowRunner

    async def with_flow(self, flow: Flow | None) -> Attempt:
        """The attempt as if it had left a flow, its probes run.

        Args:
            flow: the flow; None for the one that it left.
        """
        attempt = self.attempt if flow is None else replace_final_flow(self.attempt, flow)
        there = attempt.flow
        if there is None or there.is_empty:
            return attempt.model_copy(update={"probes": []})
        inputs = [text for probe in self.scenario.probes for text in probe.inputs]
        options = RunOptions(timeout=PROBE_SECONDS, max_iterations=PROBE_ITERATIONS)
        probes = [await self.runner.execute(there, text, options) for text in inputs]
        return attempt.model_copy(update={"probes": probes})


@asynccontextmanager
async def open_rerun(scenario: Scenario, attempt: Attempt, environment: PlayEnvironment) -> AsyncGenerator[Rerun]:
    """Serve the services of an attempt again, until the context ends."""
    async with serve(scenario.services) as addresses:
        runner = with_models(environment.runner, scenario.models)
        yield Rerun(with_addresses(scenario, addresses), _moved(attempt, addresses), runner)


def replace_final_flow(attempt: Attempt, flow: Flow) -> Attempt:
    """The attempt as if the player had left this flow, by actions like any other; its probes are to be run."""
    last = attempt.turns[-1]
    if last.proposal is not None:
        turn = last.model_copy(update={"proposal": flow})
    else:
        turn = last.model_copy(update={"after": flow, "actions": [*last.actions, *diff(last.after, flow)]})
    return attempt.model_copy(update={"turns": [*attempt.turns[:-1], turn], "probes": []})


def with_other_addresses(text: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A text in which the addresses of services are others.

    Args:
        before: the addresses that it holds, by the service's name.
        after: those that it shall hold.
    """
    others = {address: after[name] for name, address in before.items() if name in after}
    if not others:
        return text
    pattern = re.compile("|".join(rf"{re.escape(address)}(?!\d)" for address in others))
    return pattern.sub(lambda found: others[found.group()], text)


def _moved(attempt: Attempt, addresses: Mapping[str, str]) -> Attempt:
    """The attempt with the addresses at which its services are served now."""
    if not addresses:
        return attempt
    text = with_other_addresses(attempt.model_dump_json(), attempt.services, addresses)
    return Attempt.model_validate_json(text).model_copy(update={"services": dict(addresses)})
