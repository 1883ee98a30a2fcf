"""Recorded steps: each runs once; a process that resumes a turn is given the recorded result."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

from pydantic import TypeAdapter
from pydantic_ai import ApprovalRequired, ModelMessage, ModelResponse, ModelRetry, RunContext
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from agent.conversation.memory import ConversationState, Memory, Transcripts
from agent.conversation.transcript.parts import NewMessage
from agent.durable.patience import patient
from agent.durable.snapshot import Snapshots
from agent.durable.steps import Forward, Kind
from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError
from flows.json_values import Json, JsonObject, as_object, as_text
from runtime.database.errors import Done, StoreUnavailable, Superseded
from runtime.results import RunResult
from runtime.sessions.run_entry import RunEntry
from runtime.sessions.runs import RunLog
from runtime.usage.entry import Usage
from runtime.usage.log import UsageLog
from tools.workbench import Workbench

_RESPONSE: Final[TypeAdapter[ModelResponse]] = TypeAdapter(ModelResponse)

log = logging.getLogger(__name__)


class Journal(Protocol):
    """Records the results of a turn's steps."""

    async def step(
        self,
        name: str,
        work: Callable[[], Awaitable[Json]],
        done: Callable[[], Awaitable[Json]] | None = None,
        kind: Kind = "act",
    ) -> Json:
        """The result of a step: from the record if any process has run it before; otherwise it runs now.

        Args:
            name: the step's name.
            work: does it.
            done: finds what it came to when its effect is stored, and the process ended before that was recorded.
            kind: what it does.
        """
        ...


class RecordedSteps:
    """The steps of one turn.

    Args:
        journal: records them.
        explain: says for the user what a failure means.
    """

    def __init__(self, journal: Journal, explain: Callable[[Exception], TurnError]) -> None:
        self._journal = journal
        self._explain = explain
        self._snapshots = Snapshots()
        self._is_within = False

    def model(self, model: Model, forward: Forward) -> Model:
        """The model, whose answers are forwarded from inside their steps."""
        return _RecordedModel(model, self, forward)

    def toolset(self, toolset: AbstractToolset[Workbench], forward: Forward) -> AbstractToolset[Workbench]:
        """The toolset, whose calls are steps."""
        return _RecordedToolset(toolset, self, forward)

    def memory(self, memory: Memory) -> Memory:
        """The memory, accesses to which are steps."""
        return _RecordedMemory(memory, self)

    async def on_bench(
        self, name: str, bench: Workbench, work: Callable[[], Awaitable[None]], kind: Kind = "act"
    ) -> None:
        """Run it, and record what it changed."""

        async def nothing() -> Json:
            await work()
            return None

        await self.outcome(name, bench, nothing, kind=kind)

    async def value(self, name: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """Compute it, and record it."""
        return await self.outcome(name, None, work, kind="read")

    async def count(self, log: UsageLog, user: str, used: dict[str, Usage]) -> None:
        """Count it and mark it as counted, in one transaction."""

        async def work() -> Json:
            try:
                await patient(lambda: log.add(user, used))
            except StoreUnavailable:
                log.record(user, used)
            return None

        await self.outcome("usage", None, work, _nothing)

    async def log_run(self, log: RunLog, user: str, entry: RunEntry, result: RunResult) -> None:
        """Store it and mark it as stored, in one transaction."""

        async def work() -> Json:
            await log.add(user, entry, result)
            return None

        await self.outcome("run", None, work, _nothing)

    async def outcome(
        self,
        name: str,
        bench: Workbench | None,
        work: Callable[[], Awaitable[Json]],
        done: Callable[[], Awaitable[Json]] | None = None,
        kind: Kind = "act",
    ) -> Json:
        """The result of some work, failures included, with its changes to the workbench.

        Args:
            name: the step's name.
            bench: the workbench; None if it concerns none.
            work: the work.
            done: what it came to when its effect is stored already.
            kind: what it does.

        Raises:
            Exception: it has failed: when it was done in this process, as it did.
        """
        if self._is_within:  # a part of a step is no step of its own
            return await work()
        failed: list[Exception] = []

        async def live() -> Json:
            self._is_within = True
            try:
                came: JsonObject = {"value": await (work() if done is None else patient(work))}
            except (Done, Superseded):
                raise
            except Exception as failure:  # noqa: BLE001  (recorded, so that whoever goes on fails alike)
                failed.append(failure)
                came = {"failed": self._written(failure)}
            finally:
                self._is_within = False
            if bench is not None:
                came["bench"] = self._snapshots.changes(bench)
            return came

        async def stored() -> Json:
            return {"value": None if done is None else await done()}

        had = self._snapshots.version
        came = as_object(await self._journal.step(name, live, None if done is None else stored, kind))
        if bench is not None and self._snapshots.version == had:
            self._snapshots.put(bench, as_object(came.get("bench")))
        if failed:
            raise failed[0]
        if "failed" in came:
            raise _read_failure(as_object(came["failed"]))
        return came.get("value")

    def _written(self, failure: Exception) -> JsonObject:
        match failure:
            case ModelRetry():
                return {"kind": "retry", "message": failure.message}
            case ApprovalRequired():
                return {"kind": "approval", "metadata": _as_json(failure.metadata)}
            case ModelHTTPError():
                body = _as_json(failure.body)
                return {"kind": "http", "status": failure.status_code, "model": failure.model_name, "body": body}
            case ModelAPIError():
                return {"kind": "api", "model": failure.model_name, "message": failure.message}
            case _:
                return {"kind": "other", "error": self._explain(failure).model_dump(mode="json")}


def _read_failure(written: JsonObject) -> Exception:
    match written.get("kind"):
        case "retry":
            return ModelRetry(as_text(written.get("message")))
        case "approval":
            return ApprovalRequired(metadata=as_object(written.get("metadata")))
        case "http":
            status = written.get("status")
            return ModelHTTPError(
                status if isinstance(status, int) else 500, as_text(written.get("model")), written.get("body")
            )
        case "api":
            return ModelAPIError(as_text(written.get("model")), as_text(written.get("message")))
        case _:
            return AssistantUnavailable(TurnError.model_validate(written.get("error")))


_ANY: Final[TypeAdapter[Any]] = TypeAdapter(Any)


def _as_json(value: object) -> Json:
    return _ANY.dump_python(value, mode="json", fallback=str)


async def _nothing() -> Json:
    return None


class _RecordedModel(WrapperModel):
    """A model whose answers are steps. Their events are forwarded while they come, and never again."""

    def __init__(self, wrapped: Model, steps: RecordedSteps, forward: Forward) -> None:
        super().__init__(wrapped)
        self._steps = steps
        self._forward = forward

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer."""

        async def work() -> Json:
            answer = await super(_RecordedModel, self).request(messages, model_settings, model_request_parameters)
            return _RESPONSE.dump_python(answer, mode="json")

        return _RESPONSE.validate_python(await self._steps.outcome("model", None, work, kind="request"))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The complete answer as a stream."""

        async def work() -> Json:
            async with self.wrapped.request_stream(
                messages, model_settings, model_request_parameters, run_context
            ) as answer:
                async for event in answer:
                    await self._forward(event)
                return _RESPONSE.dump_python(answer.get(), mode="json")

        recorded = _RESPONSE.validate_python(await self._steps.outcome("model", None, work, kind="request"))
        yield CompletedStreamedResponse(recorded, model_request_parameters=model_request_parameters)


@dataclass(repr=False, kw_only=True)
class _ToolContext(RunContext[Workbench]):
    """The context of a call whose events are forwarded at once, so that none comes after the call was recorded."""

    forward: Forward

    @classmethod
    def of(cls, ctx: RunContext[Workbench], forward: Forward) -> _ToolContext:
        """The context of a call."""
        given = {one.name: getattr(ctx, one.name) for one in fields(ctx) if one.init}
        return cls(**given, forward=forward)

    async def emit(self, event: Any) -> Any:
        """Forward an event."""
        await self.forward(event)
        return event


class _RecordedToolset(WrapperToolset[Workbench]):
    """A toolset whose calls are steps."""

    def __init__(self, wrapped: AbstractToolset[Workbench], steps: RecordedSteps, forward: Forward) -> None:
        super().__init__(wrapped)
        self._steps = steps
        self._forward = forward

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Workbench], tool: ToolsetTool[Workbench]
    ) -> Any:
        """Call a tool."""

        async def work() -> Json:
            told = _ToolContext.of(ctx, self._forward)
            return _as_json(await self.wrapped.call_tool(name, tool_args, told, tool))

        return await self._steps.outcome(f"tool {name}", ctx.deps, work)


class _RecordedMemory:
    """A memory accesses to which are steps. A conversation that is as it was read last is recorded as that alone."""

    def __init__(self, wrapped: Memory, steps: RecordedSteps) -> None:
        self._wrapped = wrapped
        self._steps = steps
        self._last: str | None = None

    @property
    def transcripts(self) -> Transcripts:
        """What people read of the conversations."""
        return self._wrapped.transcripts

    async def load(self, user: str, session: str) -> ConversationState:
        """Load a conversation."""
        loaded: list[ConversationState] = []

        async def work() -> Json:
            state = await patient(lambda: self._wrapped.load(user, session))
            loaded.append(state)
            return {"same": True} if state.as_read == self._last else {"document": state.as_read}

        found = as_object(await self._steps.outcome("load", None, work, kind="read"))
        self._last = self._last if "same" in found else as_text(found.get("document"))
        if loaded:
            return loaded[0]
        return ConversationState.from_json(self._last) if self._last else ConversationState()

    async def save(self, user: str, session: str, state: ConversationState, message: NewMessage | None = None) -> int:
        """Save a conversation and mark it as saved, in one transaction."""

        async def work() -> Json:
            return await self._wrapped.save(user, session, state, message)

        async def done() -> Json:
            return 0

        count = await self._steps.outcome("save", None, work, done)
        return count if isinstance(count, int) else 0

    async def forget(self, user: str, session: str) -> None:
        """Delete a conversation."""
        await self._wrapped.forget(user, session)
