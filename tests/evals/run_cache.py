"""Runs of flows kept on disk: a flow that the same engine ran before, under the same conditions, is not run again.

Most of the time of the scenarios' tests goes into running flows that are wrong on purpose, the same ones every time.
The key of a run holds everything that decides its result: the engine's version, the sources of the runtime and of the
runner, the flow, the input, the options and the scenario's models.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from evals.play.environment import PlayEnvironment
from evals.play.stub_services import HOST
from evals.scenario import Scenario
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import RUN_EVENTS, RunEvent
from tools.workbench import FlowRunner

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".cache" / "test-runs"
UNSTABLE = {"timeout", "crash", "limit", "external"}
"""Errors that may be another machine's, another moment's."""


def with_cached_runs(environment: PlayEnvironment, scenario: Scenario) -> PlayEnvironment:
    """An environment in which the runs of one scenario's flows are taken from the disk where they are there."""
    models = [rule.model_dump_json() for rule in scenario.models]
    folder = FOLDER / _stamp(environment.catalogue.version)
    return replace(environment, runner=CachedRunner(environment.runner, folder, models))


class CachedRunner:
    """A runner that keeps results; everything but `execute` is the runner's own.

    Args:
        runner: runs what is not kept yet.
        folder: a file for each run.
        models: the rules by which the models inside the flows answer.
    """

    def __init__(self, runner: FlowRunner, folder: Path, models: Sequence[str]) -> None:
        self._runner = runner
        self._folder = folder
        self._models = list(models)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow, or give what it gave before, events included."""
        path = self._place(flow, text, options)
        if path is None:
            return await self._runner.execute(flow, text, options)
        listener = options.on_event
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            for event in kept["events"] if listener is not None else ():
                listener(RUN_EVENTS.validate_python(event))
            return RunResult.from_json(kept["result"])
        events: list[RunEvent] = []

        def heard(event: RunEvent) -> None:
            events.append(event)
            if listener is not None:
                listener(event)

        result = await self._runner.execute(flow, text, replace(options, on_event=listener and heard))
        if result.error is None or result.error.code not in UNSTABLE:
            _write(path, {"result": result.to_json(), "events": [event.model_dump() for event in events]})
        return result

    def _place(self, flow: Flow, text: str | None, options: RunOptions) -> Path | None:
        """The file of a run; None for one that calls a scenario's service, whose address is another every time."""
        plain = repr(replace(options, on_event=None, session=None, models=None))
        called = self._models if options.models is not None else []
        key = json.dumps([flow.to_json(), text, plain, options.on_event is not None, called], sort_keys=True)
        if HOST in key:
            return None
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"


@cache
def _stamp(engine: str) -> str:
    """What the folder of this engine, runtime and runner is called; the folders of others are removed."""
    digest = hashlib.sha256(engine.encode())
    for path in sorted(
        path
        for room in ("runtime", "lfx_runner")
        for path in (ROOT / room).rglob("*")
        if path.suffix in {".py", ".lock"}
    ):
        digest.update(path.name.encode() + path.read_bytes())
    stamp = digest.hexdigest()[:16]
    for folder in FOLDER.glob("*"):
        if folder.name != stamp:
            shutil.rmtree(folder, ignore_errors=True)
    (FOLDER / stamp).mkdir(parents=True, exist_ok=True)
    return stamp


def _write(path: Path, content: object) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)
