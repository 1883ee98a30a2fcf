"""Running a flow and the reference on a scenario's inputs, on the real engine, until they differ."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evals.behaviours.derivation import inputs_of
from evals.behaviours.families import Input
from evals.behaviours.outcomes import Behaviour, Outcome, agree
from evals.behaviours.recorded import Behaviours, flow_key
from evals.behaviours.written import written_texts
from evals.play.addresses import (
    flow_with_addresses,
    placeholder,
    text_with_addresses,
    with_addresses,
    with_other_addresses,
)
from evals.play.flow_models import with_models
from evals.play.stub_services import serve
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.sessions.memory import ProcessSessions
from tools.workbench import FlowRunner

SECONDS: Final = 30.0
"""How long one run may take."""
ITERATIONS: Final = 200
"""How often a run may run a node: flows broken on purpose often loop forever."""
USER: Final = "behaviours"
"""The user whose files the flows read."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What flows are run on.

    Attributes:
        runner: with its own models, not the scenario's.
        catalogue: with the scenario's component types.
        known: the outcomes that are known; what is run is added.
        before: other known outcomes; those that are needed are added too.
    """

    runner: FlowRunner
    catalogue: Catalogue
    known: Behaviours
    before: Behaviours = field(default_factory=Behaviours)


async def compare_behaviours(
    scenario: Scenario,
    flow: Flow,
    engine: Engine,
    services: Mapping[str, str] | None = None,
    *,
    differences: int = 1,
) -> list[Behaviour]:
    """Run a flow and the reference on the scenario's inputs.

    Both have the scenario's models, files and, from a fresh start, its services.

    Args:
        scenario: as its file defines it, without addresses.
        flow: the flow that was left; an empty one is not run.
        services: the addresses of services in the flow, by name.
        differences: the inputs on which they differ after which the comparison ends.

    Returns:
        What both gave on each input, in order, up to the last difference that was looked for.

    Raises:
        BadInputs: the scenario's declaration gives too few inputs.
        BadFlow: its reference does not build.
    """
    if scenario.inputs is None or scenario.reference is None or flow.is_empty:
        return []
    inputs = await asyncio.to_thread(inputs_of, scenario, engine.catalogue)
    left = _without_addresses(flow, services or {})
    reference = read_named("the reference", scenario.reference, engine.catalogue)
    found: list[Behaviour] = []
    async with _running(scenario, left, engine) as given, _running(scenario, reference, engine) as wanted:
        for each in inputs:
            behaviour = Behaviour(input=each, given=await given.on(each), wanted=await wanted.on(each))
            found.append(behaviour)
            differences -= not agree(scenario.inputs, behaviour.given, behaviour.wanted)
            if differences <= 0:
                break
    return found


def learn_probes(scenario: Scenario, flow: Flow, results: Sequence[RunResult], engine: Engine) -> None:
    """Keep what the runs of probes gave, so that the same flow is not run on the same inputs again.

    Only where nothing else decides it: no services, which may count, and no files. Runs that failed are made again.

    Args:
        flow: the flow that was left.
        results: in the order of the probes' inputs.
    """
    if scenario.services or scenario.files or any(probe.files or probe.writes for probe in scenario.probes):
        return
    key = flow_key(flow, scenario, engine.catalogue.version)
    texts = [text for probe in scenario.probes for text in probe.inputs]
    for text, result in zip(texts, results, strict=False):
        if text is not None and result.error is None:
            engine.known.learn(key, Input(trait="given", text=text), Outcome.of(result))


async def outcomes(scenario: Scenario, flow: Flow, inputs: Sequence[Input], engine: Engine) -> list[Outcome]:
    """What a flow of a scenario's file gives on each input."""
    async with _running(scenario, flow, engine) as running:
        return [await running.on(each) for each in inputs]


@dataclass(frozen=True, kw_only=True)
class _Running:
    """One flow, with everything that its runs need.

    Attributes:
        flow: with the addresses at which its services are served.
        addresses: of the services, by name.
    """

    scenario: Scenario
    flow: Flow
    key: str
    addresses: Mapping[str, str]
    data: Path
    runner: FlowRunner
    known: Behaviours
    before: Behaviours

    async def on(self, given: Input) -> Outcome:
        """What the flow gives on an input."""
        known = self.known.outcome(self.key, given) or self.before.outcome(self.key, given)
        if known is not None:
            self.known.learn(self.key, given, known)
            return known
        files = await asyncio.to_thread(self._files, given)
        memory = ProcessSessions().memory(self.key, USER) if given.earlier else None
        options = RunOptions(
            timeout=SECONDS,
            max_iterations=ITERATIONS,
            files=files,
            session=USER if given.earlier else None,
            memory=memory,
        )
        for text in given.earlier:
            await self.runner.execute(self.flow, text_with_addresses(text, self.addresses), options)
        said = text_with_addresses(given.text, self.addresses)
        result = await self.runner.execute(self.flow, said, options)
        written = {} if files is None else await asyncio.to_thread(written_texts, files, result)
        outcome = self._without_addresses(Outcome.of(result, written if self.scenario.expects_files else None))
        self.known.learn(self.key, given, outcome)
        return outcome

    def _files(self, given: Input) -> UserFiles | None:
        """The user's files; None if the scenario has none, and expects none to be written."""
        contents = {**self.scenario.files, **given.files}
        if not contents and not self.scenario.expects_files:
            return None
        folder = UserFiles(self._fresh() if self.scenario.expects_files else self.data, USER)
        for path, content in contents.items():
            folder.write(path, content)
        return folder

    def _fresh(self) -> Path:
        """A folder in which no earlier run has written."""
        return Path(tempfile.mkdtemp(dir=self.data))

    def _without_addresses(self, outcome: Outcome) -> Outcome:
        placeholders = {name: placeholder(name) for name in self.addresses}
        text = with_other_addresses(outcome.model_dump_json(), self.addresses, placeholders)
        return Outcome.model_validate_json(text)


@asynccontextmanager
async def _running(scenario: Scenario, flow: Flow, engine: Engine) -> AsyncGenerator[_Running]:
    """Serve the scenario's services for a flow, and give it a folder, until the context ends."""
    key = flow_key(flow, scenario, engine.catalogue.version)
    with tempfile.TemporaryDirectory(prefix="wirewright-behaviours-") as folder:
        async with serve(scenario.services) as addresses:
            yield _Running(
                scenario=scenario,
                flow=flow_with_addresses(flow, addresses),
                key=key,
                addresses=addresses,
                data=Path(folder),
                runner=with_models(engine.runner, with_addresses(scenario, addresses).models),
                known=engine.known,
                before=engine.before,
            )


def _without_addresses(flow: Flow, services: Mapping[str, str]) -> Flow:
    if not services:
        return flow
    placeholders = {name: placeholder(name) for name in services}
    text = json.dumps(flow.to_json(), ensure_ascii=False)
    return Flow.from_json(json.loads(with_other_addresses(text, services, placeholders)))
