"""Running the probes of a flow, and running them again with the scenario's services and models."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evals.attempt import Attempt
from evals.behaviours.outcomes import Behaviour
from evals.behaviours.own_runs import own_runs
from evals.behaviours.running import Engine, compare_behaviours, learn_probes
from evals.behaviours.written import written_texts
from evals.expectation import Probe
from evals.play.addresses import with_addresses, with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.play.flow_models import with_models
from evals.play.stub_services import serve
from evals.scenario import Scenario
from flows.diff import diff
from flows.document import Flow
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

PROBE_SECONDS = 30.0
"""How long one probe may take."""
PROBE_ITERATIONS = 200
"""How often a probe that is run again may run a node: flows broken on purpose often loop forever."""


@dataclass(frozen=True)
class Rerun:
    """An attempt whose services are served again.

    Attributes:
        scenario: with the addresses of its services in place.
        attempt: with the same addresses.
        runner: runs flows with the scenario's models.
        declared: the scenario as its file defines it.
        engine: what its behaviours are compared on.
    """

    scenario: Scenario
    attempt: Attempt
    runner: FlowRunner
    declared: Scenario
    engine: Engine

    async def with_flow(self, flow: Flow | None) -> Attempt:
        """The attempt as if it had resulted in a flow, with its probes run and its behaviour compared.

        Args:
            flow: the flow; None for the attempt's own result.
        """
        attempt = self.attempt if flow is None else replace_final_flow(self.attempt, flow)
        options = RunOptions(timeout=PROBE_SECONDS, max_iterations=PROBE_ITERATIONS)
        made = await run_probes(self.scenario, attempt.flow or Flow.empty(), self.runner, options)
        requested = await self.requested_runs(attempt, options) if self.attempt.requested else {}
        learn_probes(self.declared, attempt.flow or Flow.empty(), made.results, self.engine)
        behaviours = await self.behaviours(attempt)
        probed = {"probes": made.results, "written": made.written}
        return attempt.model_copy(update={**probed, "requested": requested, "behaviours": behaviours})

    async def behaviours(self, attempt: Attempt) -> list[Behaviour]:
        """What the attempt's flow and the reference give on the scenario's inputs."""
        flow = attempt.flow or Flow.empty()
        return await compare_behaviours(self.declared, flow, self.engine, self.attempt.services)

    async def requested_runs(self, attempt: Attempt, options: RunOptions) -> dict[int, RunResult]:
        """The results of the runs that messages ask for, by message, on the flow that each led to."""
        results: dict[int, RunResult] = {}
        for number, turn in enumerate(self.scenario.turns):
            replies = attempt.replies(number)
            if turn.run is not None and replies and not replies[-1].flow.is_empty:
                results[number] = await self.runner.execute(replies[-1].flow, turn.run.input, options)
        return results


@dataclass(frozen=True, kw_only=True)
class ProbeRuns:
    """The runs of a scenario's probes, in order.

    Attributes:
        results: fewer than inputs if there was no flow to run.
        written: what each run wrote into the user's files, content by path; empty if no probe expects a file.
    """

    results: list[RunResult]
    written: list[dict[str, str]]


async def run_probes(scenario: Scenario, flow: Flow, runner: FlowRunner, options: RunOptions) -> ProbeRuns:
    """Run a flow with every input of a scenario's probes; an empty flow is not run.

    Where the scenario or a probe has files, or a probe expects some, each run has a folder of its own with the files of
    both.
    """
    inputs = [] if flow.is_empty else [(probe, text) for probe in scenario.probes for text in probe.inputs]
    made = [await _run_with_files(scenario, probe, text, flow, runner, options) for probe, text in inputs]
    expects_files = any(probe.writes for probe in scenario.probes)
    return ProbeRuns(
        results=[result for result, _ in made], written=[files for _, files in made] if expects_files else []
    )


async def _run_with_files(
    scenario: Scenario, probe: Probe, text: str | None, flow: Flow, runner: FlowRunner, options: RunOptions
) -> tuple[RunResult, dict[str, str]]:
    if not (scenario.files or probe.files or probe.writes):
        return await runner.execute(flow, text, options), {}
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        files = UserFiles(Path(folder), "probe")
        for path, content in {**scenario.files, **probe.files}.items():
            await asyncio.to_thread(files.write, path, content)
        result = await runner.execute(flow, text, replace(options, files=files))
        return result, await asyncio.to_thread(written_texts, files, result)


@asynccontextmanager
async def open_rerun(scenario: Scenario, attempt: Attempt, environment: PlayEnvironment) -> AsyncGenerator[Rerun]:
    """Serve the services of an attempt again, until the context ends.

    A run whose process ends is made once more, as all of the harness's own; `EngineCrashed` is raised if that ends too.
    """
    async with serve(scenario.services) as addresses:
        own = own_runs(environment.runner)
        yield Rerun(
            scenario=with_addresses(scenario, addresses),
            attempt=_readdressed(attempt, addresses),
            runner=with_models(own, scenario.models),
            declared=scenario,
            engine=Engine(
                runner=own,
                catalogue=attempt.catalogue(environment.catalogue),
                known=environment.behaviours,
            ),
        )


def replace_final_flow(attempt: Attempt, flow: Flow) -> Attempt:
    """The attempt as if the player had left this flow, by actions like any other; its probes are to be run."""
    last = attempt.turns[-1]
    if last.proposal is not None:
        turn = last.model_copy(update={"proposal": flow})
    else:
        turn = last.model_copy(update={"after": flow, "actions": [*last.actions, *diff(last.after, flow)]})
    emptied: dict[str, list[object]] = {"probes": [], "written": [], "behaviours": []}
    return attempt.model_copy(update={"turns": [*attempt.turns[:-1], turn], **emptied})


def _readdressed(attempt: Attempt, addresses: Mapping[str, str]) -> Attempt:
    """The attempt with the addresses at which its services are served now."""
    if not addresses:
        return attempt
    text = with_other_addresses(attempt.model_dump_json(), attempt.services, addresses)
    return Attempt.model_validate_json(text).model_copy(update={"services": dict(addresses)})
