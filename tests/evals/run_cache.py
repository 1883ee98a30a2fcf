"""Recorded runs: a flow that the same engine ran before, on the same input, is not run again.

Most of the time of the scenarios' tests would go into running flows that are wrong on purpose, the same ones every
time. Their runs are recorded in `cassettes/runs.jsonl` (`python -m scripts.recorded_runs`); those that are not are made
and kept in `.cache/`. The key of a run holds the engine's version, the flow, the input, the options, the scenario's
models, the user's files and the messages that its session has; what it adds to them is kept with its result. A run
that writes files is always made. A reference is run unless the sources that decide what a run gives
(`tests/recordings/sources.py`) are those of the recordings, so that these hide no change of theirs.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from evals.play.environment import PlayEnvironment
from evals.play.stub_services import HOST
from evals.scenario import Scenario
from flows.document import Flow, JsonObject
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.options import OnEvent, RunOptions
from runtime.results import RunResult
from runtime.run_events import EVENT_KINDS, RunEvent
from runtime.sessions.memory import ProcessSessions, SessionMemory
from runtime.sessions.messages import Message, MessageChanges, read_changes
from runtime.sessions.store import StoredSession
from tests.recordings.sources import RECORDED, ROOT, SOURCES, sources_digest
from tools.workbench import FlowRunner

FOLDER = ROOT / ".cache" / "test-runs"
_EVENTS: TypeAdapter[RunEvent] = TypeAdapter(RunEvent)
RECORD_TO = "WIREWRIGHT_RECORD_RUNS"
"""The variable that names a folder for every run that is used; then nothing recorded is read."""
UNSTABLE = {"timeout", "crash", "limit", "external"}
"""Errors that may be another machine's, another moment's."""


def with_cached_runs(
    environment: PlayEnvironment, scenario: Scenario, *, same_sources: bool = False
) -> PlayEnvironment:
    """An environment in which the runs of one scenario's flows are taken from the disk where they are there.

    With `same_sources`, this is the environment itself unless today's sources made the recordings.
    """
    models = [rule.model_dump_json() for rule in scenario.models]
    version = environment.catalogue.version
    record_to = os.environ.get(RECORD_TO)
    if same_sources and not record_to and _recorded().get(SOURCES) != sources_digest():
        return environment
    folder = Path(record_to) if record_to else FOLDER / _stamp(version)
    recorded = {} if record_to else _recorded()
    return replace(environment, runner=CachedRunner(environment.runner, folder, [version, *models], recorded))


class _Listening:
    """The messages of a session, and those that a run stores there."""

    def __init__(self, memory: SessionMemory) -> None:
        self._memory = memory
        self.stored: list[JsonObject] = []

    async def load(self) -> list[Message]:
        return await self._memory.load()

    async def save(self, changes: MessageChanges) -> None:
        self.stored = [message.to_json() for message in changes.added]
        await self._memory.save(changes)


class CachedRunner:
    """A runner that keeps results; everything but `execute` is the runner's own.

    Args:
        runner: runs what is not kept yet.
        folder: a file for each run.
        conditions: what else decides the result: the engine's version, the rules by which models answer.
        recorded: runs that are kept already, by key.
    """

    def __init__(
        self, runner: FlowRunner, folder: Path, conditions: Sequence[str], recorded: Mapping[str, str] | None = None
    ) -> None:
        self._runner = runner
        self._folder = folder
        self._conditions = list(conditions)
        self._recorded = recorded or {}
        self._sessions = ProcessSessions()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow, or give what it gave before, events and messages of its session included."""
        heard_session = None if options.session is None or options.verification else _Listening(self._memory(options))
        options = replace(options, memory=heard_session)
        given = [] if heard_session is None else await heard_session.load()
        key = self._key(flow, text, options, given)
        if key is None:
            return await self._runner.execute(flow, text, options)
        path = self._folder / f"{key}.json"
        listener = _of_kinds(options)
        contents = [self._recorded.get(key), path.read_text(encoding="utf-8") if path.exists() else None]
        for content in contents:
            if content is None:
                continue
            kept = json.loads(content)
            if heard_session is not None and "messages" not in kept:
                continue  # it was made without a session
            for event in kept["events"] if listener is not None else ():
                listener(_EVENTS.validate_python(event))
            if heard_session is not None:
                await heard_session.save(read_changes(kept.get("messages"), given))
            return RunResult.from_json(kept["result"])
        events: list[RunEvent] = []

        def heard(event: RunEvent) -> None:
            events.append(event)
            if listener is not None:
                listener(event)

        result = await self._runner.execute(
            flow, text, replace(options, on_event=listener and heard, event_kinds=EVENT_KINDS)
        )
        if not result.files and (result.error is None or result.error.code not in UNSTABLE):
            heard_events = [event.model_dump() for event in events]
            kept = {"key": key, "result": result.to_json(), "events": heard_events}
            if heard_session is not None:
                kept["messages"] = {"stored": heard_session.stored}
            _write(path, kept)
        return result

    def _memory(self, options: RunOptions) -> SessionMemory:
        """The messages of a run's session, which are kept in this process: a run that is not made stores none."""
        stored = options.memory
        flow = f"{stored.owner} {stored.flow}" if isinstance(stored, StoredSession) else ""
        return self._sessions.memory(flow, options.session or "")

    def _key(self, flow: Flow, text: str | None, options: RunOptions, given: Sequence[Message]) -> str | None:
        """The key of a run; None for one that calls a scenario's service, whose address is another every time."""
        chosen = {
            field.name: repr(value)
            for field in fields(options)
            if field.name not in {"on_event", "event_kinds", "session", "memory", "models", "files"}
            and (value := getattr(options, field.name)) != field.default
        }
        parts = [flow.to_json(), text, chosen, options.on_event is not None, options.models is not None]
        if options.files is not None:
            parts.append(_contents(options.files))
        if given:
            parts.append([[each.sender, each.sender_name, each.context, each.text] for each in given])
        key = json.dumps([*parts, self._conditions], sort_keys=True)
        return None if HOST in key else hashlib.sha256(key.encode()).hexdigest()[:32]


def _of_kinds(options: RunOptions) -> OnEvent | None:
    """What is called with events of the kinds that a run asks for: every kind is kept."""
    on_event, kinds = options.on_event, options.event_kinds
    return on_event and (lambda event: on_event(event) if event.event in kinds else None)


def _contents(files: UserFiles) -> JsonObject:
    """The digests of a user's files, by path; a run reads nothing else of a user's."""
    try:
        paths = [path for path, _ in files.listing()]
    except FileRefused:  # a user without a folder
        return {}
    return {path: hashlib.sha256(files.read_bytes(path)).hexdigest() for path in paths}


@cache
def _recorded() -> dict[str, str]:
    """The recorded runs by key, and the digest of the sources that made them."""
    if not RECORDED.exists():
        return {}
    first, *lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return {SOURCES: json.loads(first)[SOURCES], **{json.loads(line)["key"]: line for line in lines}}


@cache
def _stamp(engine: str) -> str:
    """What the folder of this engine and these sources is called; the folders of others are removed."""
    stamp = hashlib.sha256(f"{engine} {sources_digest()}".encode()).hexdigest()[:16]
    for folder in FOLDER.glob("*"):
        if folder.name != stamp:
            shutil.rmtree(folder, ignore_errors=True)
    (FOLDER / stamp).mkdir(parents=True, exist_ok=True)
    return stamp


def _write(path: Path, content: object) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)
