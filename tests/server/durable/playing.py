"""A conversation of two turns that changes, runs, writes and asks, played in processes that may be killed anywhere."""

import asyncio
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from agent.assistant import Assistant
from agent.models.scripted import call
from evals.players.reading import classification
from flows.catalogue import Catalogue
from runtime.accounts.scopes import EVERY_SCOPE
from runtime.accounts.user import User
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from runtime.keychain.access_token import access_token
from server.access.auth import Access
from server.access.caller import Caller
from server.app import create_app
from server.durable.journal import StepJournal
from server.settings import ServerSettings
from server.store.turn_rows import SqlTurns
from server.store.turns import RUNNING, NewEvents
from server.streams.event_log import EventLog
from server.turns import started
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.stand_ins import SUM, ComponentRunner

USER = User(id=LOCAL_USER, name="local", scopes=frozenset(EVERY_SCOPE), created_at="")
SECONDS = 40
Plan = Callable[[list[ModelMessage]], list[ToolCallPart | TextPart]]


class Points:
    """The points of a process at which it may be killed, counted as they are passed.

    Attributes:
        passed: how many were passed.
        fatal: at which of them it is killed.
        step: the step that is being done.
        fatal_step: the step with which it is killed, when its effect is stored and not yet recorded.
        still_at: the step, or what is stored of events, before which its loop stands still until it is let go.
        gate: the file that says that it stands still, as long as it is there.
        writers: how many transactions are under way.
    """

    passed = 0
    fatal = 0
    still_at = ""
    gate: Path | None = None
    writers = 0
    step: ContextVar[str] = ContextVar("step", default="")
    fatal_step = ""

    @classmethod
    def hit(cls) -> None:
        """Pass one."""
        cls.passed += 1
        if cls.passed == cls.fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    @classmethod
    def stored(cls) -> None:
        """Pass the point at which a transaction has ended."""
        cls.hit()
        if cls.fatal_step and cls.step.get() == cls.fatal_step:
            os.kill(os.getpid(), signal.SIGKILL)

    @classmethod
    async def stand_still(cls, before: str) -> None:
        """Let the whole loop of this process stand still, like one that was frozen, if this is where it is to.

        It does so outside of transactions, since one on SQLite would hold up the others.
        """
        if before != cls.still_at or cls.gate is None:
            return
        while cls.writers:  # noqa: ASYNC110  (nothing tells)
            await asyncio.sleep(0.001)
        cls.still_at = ""
        cls.gate.touch()
        while cls.gate.exists():
            time.sleep(0.01)  # noqa: ASYNC251  (nothing else may go on)


def _watch() -> None:
    """Count what is written, begun and ended."""
    write, entered, append = EventLog.write, Database.writing, SqlTurns.append

    def counted_write(log: EventLog, line: bytes, state: str = RUNNING) -> None:
        Points.hit()
        write(log, line, state)

    @asynccontextmanager
    async def counted_writing(database: Database, *owners: str) -> Any:
        Points.hit()
        Points.writers += 1
        try:
            async with entered(database, *owners) as connection:
                yield connection
                Points.hit()
        finally:
            Points.writers -= 1
        Points.stored()

    async def counted_append(turns: SqlTurns, added: Sequence[NewEvents], *, again: bool = False) -> Any:
        await Points.stand_still("events" if all(one.state == RUNNING for one in added) else "end")
        return await append(turns, added, again=again)

    SqlTurns.append = counted_append
    EventLog.write = counted_write
    Database.writing = counted_writing
    step = StepJournal.step

    async def counted_step(journal: StepJournal, name: str, *given: Any) -> Any:
        Points.hit()
        token = Points.step.set(name)
        try:
            await Points.stand_still(name)
            came = await step(journal, name, *given)
        finally:
            Points.step.reset(token)
        Points.hit()
        return came

    StepJournal.step = counted_step


class Runner(ComponentRunner):
    """A stand-in engine, in whose runs a process may be killed."""

    async def execute(self, *given: Any) -> Any:
        """A run."""
        Points.hit()
        ran = await super().execute(*given)
        Points.hit()
        return ran


def model_of(plan: Plan, message: str, notes: Path) -> FunctionModel:
    """A model that follows a plan, and notes each request."""

    def parts(messages: list[ModelMessage], info: AgentInfo) -> list[ToolCallPart | TextPart]:
        Points.hit()
        if not info.function_tools:
            return [
                TextPart(
                    classification(
                        "component_then_flow", message, {"write_files": [], "overwrite_files": ["*"], "run": []}
                    )
                )
            ]
        with notes.open("a") as file:
            file.write(f"{sum(isinstance(one, ModelResponse) for one in messages)}\n")
        return plan(messages)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        for index, part in enumerate(parts(messages, info)):
            Points.hit()
            if isinstance(part, TextPart):
                yield part.content
            else:
                arguments = part.args_as_json_str()
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}

    return FunctionModel(
        lambda messages, info: ModelResponse(parts=parts(messages, info)), stream_function=stream, model_name="script"
    )


MESSAGE = "Add a chat input, write the component Sum and the file notes.md, make the prompt whisper, then run the flow"


def plan_for(prompt: str) -> Plan:
    """The script: edits, a component, a file, a question; after its answer a run, another edit of the file, an end."""
    said: Sequence[list[ToolCallPart | TextPart]] = (
        [call("add_component", 1, type="ChatInput")],
        [call("generate_component", 2, source=SUM)],
        [call("write_file", 3, path="notes.md", content="First line\n")],
        [call("write_todos", 4, todos=[{"content": "Whisper"}])],
        [call("configure_component", 5, component_id=prompt, values={"template": "Whisper: {text}"})],
        [call("run_flow", 6, input="hello")],
        [call("edit_file", 7, path="notes.md", old_string="First", new_string="Second")],
        [TextPart("I added a chat input, wrote the Sum component and notes.md, and ran the flow.")],
    )
    return lambda messages: said[min(len(said) - 1, sum(isinstance(one, ModelResponse) for one in messages))]


@dataclass
class Place:
    """Where a conversation is played.

    Attributes:
        database: its URL.
        data: the data folder.
    """

    database: str
    data: Path
    catalogue: Catalogue
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    @asynccontextmanager
    async def served(self, **settings: Any) -> AsyncGenerator[Caller]:
        """A server in this process, without a port: its state, and who asks it."""
        chosen = ServerSettings(
            database=self.database, data=self.data, durable=True, memory="file", **self.extra, **settings
        )
        flow = flow_of(LOUDER, self.catalogue)
        plan = plan_for(node_id(flow, "Prompt Template"))
        model = model_of(plan, MESSAGE, self.data / "requests")
        assistant = Assistant(chosen, Runner(), catalogue=self.catalogue, model=model)
        app = create_app(chosen, assistant=assistant, access=Access(access_token(self.data)))
        async with app.router.lifespan_context(app):
            yield Caller(app.state.server, USER)

    async def ended(self, caller: Caller, turn: str, request: Callable[[], Any]) -> str:
        """Wait for the end of a turn, which is begun if it was not; its id."""
        for again in range(9):  # a turn that had been reserved and not begun has to be asked for again
            named = f"{turn}{again}"
            if await caller.state.turns.find(LOCAL_USER, named) is None:
                wanted = {"session_id": "s", "turn_id": named, "resumable": True, "details": True}
                await started(caller, wanted | await request())
            async with asyncio.timeout(SECONDS):
                lines = [line async for some in caller.state.turns.follow(LOCAL_USER, named) for line in some]
            if b"Send the message again" not in lines[-1][1]:
                return named
        raise AssertionError("the turn was never begun")

    async def play(self) -> dict[str, Any]:
        """Play both turns, or what is left of them; what came of it, without times and random ids."""
        async with self.served() as caller:
            flows = await caller.flows()
            entries, _ = await flows.page(1, 0)
            entry = entries[0] if entries else await flows.add(flow_of(LOUDER, self.catalogue))

            async def message() -> dict[str, Any]:
                return {"input_value": MESSAGE, "flow_id": entry.id}

            async def answer() -> dict[str, Any]:
                asked = await caller.assistant.pending(LOCAL_USER, "s")
                return {"approvals": {name: {"decision": "approve"} for name in asked}, "flow_id": entry.id}

            turns = [await self.ended(caller, *each) for each in (("one", message), ("two", answer))]
            files = caller.files
            usage = await caller.assistant.usage_log.today(LOCAL_USER)
            runs, count = await caller.assistant.run_log.entries(LOCAL_USER, 10)
            state = await caller.assistant.memory.load(LOCAL_USER, "s")
            told = [
                effective([line async for lines in caller.state.turns.follow(LOCAL_USER, turn) for line in lines])
                for turn in turns
            ]
            return normal(
                {
                    "flow": (await flows.get(entry.id)).flow.raw,
                    "versions": [(one.version, one.turn[:3]) for one in await flows.revisions(entry.id)],
                    "files": {path: files.read(path) for path, _ in files.listing()},
                    "components": sorted(path.name for path in self.data.glob("users/*/.components/*.py")),
                    "usage": (usage.requests, usage.turns, usage.runs, usage.input_tokens, usage.output_tokens),
                    "runs": (count, [(one.input, one.output) for one in runs]),
                    "turns": [turn.model_dump(mode="json") for turn in state.turns],
                    "events": told,
                }
            )


async def told(caller: Any, turn: str) -> list[Any]:
    """The events of a turn, to its end."""
    async with asyncio.timeout(SECONDS):
        return [json.loads(line) async for some in caller.state.turns.follow(LOCAL_USER, turn) for _, line in some]


def turn_of(place: Place, number: int) -> Callable[[], Any]:
    """What plays one of the two turns of the conversation."""

    async def play() -> Any:
        async with place.served() as caller:
            flows = await caller.flows()
            entries, _ = await flows.page(1, 0)
            entry = entries[0] if entries else await flows.add(flow_of(LOUDER, place.catalogue))
            asked = await caller.assistant.pending(LOCAL_USER, "s")
            answers = {"approvals": {name: {"decision": "approve"} for name in asked}}
            said: dict[str, Any] = {"input_value": MESSAGE} if number == 1 else answers
            wanted = {"session_id": "s", "turn_id": f"t{number}", "resumable": True, "flow_id": entry.id}
            await started(caller, wanted | said)
            return (await told(caller, f"t{number}"))[-1]["event"]

    return play


def effective(lines: list[tuple[int, bytes]]) -> list[dict[str, Any]]:
    """The events that count: those before which the turn did not go back."""
    kept: list[tuple[int, dict[str, Any]]] = []
    for number, line in lines:
        event = json.loads(line)
        if event["event"] == "rewound":
            kept = [one for one in kept if one[0] <= event["to"]]
        else:
            kept.append((number, event))
    return [event for _, event in kept]


def normal(value: Any) -> Any:
    """A value without what no two plays have alike: durations, and the random ends of ids."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "flow", json.dumps(value))
    text = re.sub(r'"(duration_seconds|seconds|peak_mb|wall_seconds)": [0-9.e-]+', r'"\1": 0', text)
    names: dict[str, str] = {}
    return json.loads(
        re.sub(r"-[A-Za-z0-9]{5}(?![A-Za-z0-9])", lambda found: names.setdefault(found[0], f"-{len(names)}"), text)
    )


def forked(work: Callable[[], Any], *, fatal: int = 0, fatal_step: str = "") -> tuple[int, str]:
    """Do something in a process of its own, which is killed at a point; how it ended, and what it gave as JSON.

    Args:
        work: what is done.
        fatal: the number of the point at which the process is killed.
        fatal_step: the step with which it is killed, when its effect is stored and not yet recorded.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            _watch()
            Points.passed, Points.fatal, Points.fatal_step = 0, fatal, fatal_step
            came = json.dumps({"passed": 0, "value": asyncio.run(work())} | {"passed": Points.passed}).encode()
            while came:
                came = came[os.write(writing, came) :]
            code = 0
        except BaseException:  # noqa: BLE001  (told to the parent)
            os.write(writing, traceback.format_exc().encode()[-8_000:])
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        said = answers.read().decode()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said
