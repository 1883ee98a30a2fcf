"""The assistant's own tools for one call over MCP: a workbench of its own, on a stored flow or on an empty canvas."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, cast

from pydantic import ValidationError
from pydantic_ai import ApprovalRequired, CustomEvent, ModelMessage, ModelResponse, ModelRetry, RunContext
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import ToolsetTool
from pydantic_ai.usage import RunUsage

from agent.toolsets.selection import all_tools
from agent.turn.request import TurnRequest
from flows.document import Flow
from flows.edits import Edit
from runtime.sessions.run_entry import RunEntry
from runtime.usage.entry import FLOW_MODELS, Usage
from server.mcp.answers import FlowRef
from server.mcp.call import SESSION, Call, ToolFailed, fail
from server.mcp.consent.baselines import Base
from server.store.flows import Author, StoredFlow
from server.stored_canvas import StoredCanvas
from tools.approvals import is_held
from tools.consent.ask import consent_metadata
from tools.consent.gate import ask_before_edit
from tools.events import Progress, RunProgress
from tools.workbench import Workbench


def _no_model(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
    raise AssertionError("no tool asks a model")


_NO_MODEL: Final = FunctionModel(_no_model)


@dataclass(kw_only=True)
class McpContext(RunContext[Workbench]):
    """The context of a tool that no agent run calls: what the tool emits is progress of the call."""

    call: Call | None = field(default=None, repr=False)

    async def emit(self, event: Any, /) -> Any:
        """Tell the client what is happening."""
        if self.call is not None and isinstance(event, CustomEvent):
            message = progress_text(event)
            if message:
                await self.call.report(message)
        return event


def progress_text(event: CustomEvent) -> str:
    """What a client is told of an event while a tool works; empty for nothing."""
    match event:
        case Progress():
            return event.message
        case RunProgress() if event.event.event == "node_started":
            return f"Running {event.label}..."
        case _:
            return ""


@cache
def agent_tools() -> Mapping[str, ToolsetTool[Workbench]]:
    """The assistant's tools by name."""
    bare = RunContext[Workbench](deps=cast("Workbench", None), model=_NO_MODEL, usage=RunUsage())
    return {
        name: one.tool_for_tool_def(tool.tool_def, ctx=bare) for one in all_tools() for name, tool in one.tools.items()
    }


class Desk:
    """A workbench for one call.

    Args:
        call: the call.
        bench: the workbench.
        stored: the flow that it is about; None for an empty canvas.
        base: what of that flow is the user's.
    """

    def __init__(self, call: Call, bench: Workbench, stored: StoredFlow | None, base: Base) -> None:
        self.bench = bench
        self._call = call
        self._stored = stored
        self._base = base

    @property
    def entry(self) -> FlowRef:
        """The stored flow as it was found."""
        assert self._stored is not None  # noqa: S101  (only desks of stored flows are asked; narrows the type)
        return FlowRef.of(self._stored.entry)

    async def use(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call one of the assistant's tools, all of it or nothing: what it asks is asked before it changes anything.

        Args:
            name: the tool.
            arguments: its arguments, which are validated.

        Returns:
            Its answer, as a model of ours reads it.

        Raises:
            ToolFailed: the arguments are wrong, or it did not do what was asked.
            ApprovalRequired: the user has to be asked first.
        """
        tool = agent_tools()[name]
        context = self._context(name)
        try:
            checked = tool.args_validator.validate_python(dict(arguments), context=None)
        except ValidationError as wrong:
            fail(wrong_arguments(wrong), "invalid_arguments")
        self.bench.waits = True  # a tool that asks about a part of its work then does none of it
        try:
            try:
                answer: object = await tool.toolset.call_tool(name, checked, context, tool)
            except ApprovalRequired as asked:
                if not is_held(asked.metadata):
                    raise
                self.bench.waits = False
                answer = await tool.toolset.call_tool(name, checked, context, tool)
        except ModelRetry as retry:
            raise ToolFailed(str(retry), "retry") from None
        if isinstance(answer, dict):
            failure = cast("dict[str, object]", answer)
            fail(str(failure.get("error", "It was refused.")), "refused")
        return str(answer)

    async def rewind(self, name: str, edit: Edit) -> None:
        """Lead the flow to an earlier state, as an edit of the flow that asks what edits ask.

        Args:
            name: the tool.
            edit: the edit.

        Raises:
            ApprovalRequired: the user has to be asked first.
        """
        context = self._context(name)
        ask_before_edit(context, edit)
        await self.bench.rewind(context.emit, edit)

    def _context(self, name: str) -> McpContext:
        given = self._call.given
        return McpContext(
            deps=self.bench,
            model=_NO_MODEL,
            usage=RunUsage(),
            tool_name=name,
            tool_call_id=self._call.id,
            tool_call_approved=bool(given),
            tool_call_metadata=consent_metadata(given),
            call=self._call,
        )

    async def save(self) -> FlowRef:
        """Store the flow as the workbench left it, merged with what others have changed meanwhile.

        Raises:
            ToolFailed: it could not be stored.
        """
        stored, call = self._stored, self._call
        assert stored is not None  # noqa: S101  (as above)
        if self.bench.flow == stored.flow:
            return self.entry
        canvas = StoredCanvas(
            stored, await call.caller.flows(), SESSION, call.id, nodes=call.caller.settings.nodes_limit
        )
        facts = await canvas.save(self.bench.flow)
        flow_id = stored.entry.id
        if facts.save_error is not None:
            await call.forget_base(flow_id)
            fail(f"Nothing was changed. {facts.save_error}", "not_saved")
        current = await (await call.caller.flows()).get(flow_id)
        if canvas.merged is None and current.entry.version == stored.entry.version + 1:
            await call.note_base(flow_id, self._base.version, current.entry.version)
        else:
            await call.forget_base(flow_id)
        return FlowRef.of(current.entry)

    async def add(self, flow: Flow) -> FlowRef:
        """Store a flow that was made in this call as a new one."""
        store = await self._call.caller.flows()
        entry = await store.add(flow, Author(kind="assistant", session=SESSION, turn=self._call.id))
        await self._call.note_base(entry.id, None, entry.version)
        return FlowRef.of(entry)

    def count(self) -> None:
        """Keep what ran, and what it used."""
        assistant, user, bench = self._call.caller.assistant, self._call.caller.id, self.bench
        used = bench.flow_usage
        if bench.runs or used.calls:
            figures = Usage.of(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                requests=used.calls,
                runs=len(bench.runs),
            )
            assistant.usage_log.record(user, {FLOW_MODELS: figures})
        if self._stored is None:
            return
        entry = self._stored.entry
        inputs = [run.input for run in bench.run_log if run.by == "user"]
        for result, text in zip(bench.runs, inputs, strict=True):
            logged = RunEntry.of(result, text, flow=entry.id, name=entry.name, source="mcp", session=bench.session)
            assistant.run_log.record(user, logged, result)


@asynccontextmanager
async def desk_of(call: Call, flow_id: str | None = None) -> AsyncGenerator[Desk]:
    """A desk for one call; calls of one client on one flow wait for each other.

    Args:
        call: the call.
        flow_id: the stored flow that it is about; None for an empty canvas.

    Raises:
        FlowNotStored: there is no such flow.
        AssistantUnavailable: the component types are not known yet.
    """
    if flow_id is None:
        yield await _opened(call, None, Base(None, None))
        return
    async with call.baselines.lock(call.client, flow_id):
        stored = await (await call.caller.flows()).get(flow_id)
        yield await _opened(call, stored, await call.base_of(stored))


async def _opened(call: Call, stored: StoredFlow | None, base: Base) -> Desk:
    caller, assistant = call.caller, call.caller.assistant
    catalogue = await assistant.catalogue()
    request = TurnRequest(
        text="",
        session=SESSION,
        user=caller.id,
        scopes=tuple(caller.user.scope_names),
        flow=None if stored is None else stored.flow,
        flow_id=None if stored is None else stored.entry.id,
    )
    bench = assistant.workbench(request, catalogue, await assistant.choose(None, caller.id))
    bench.catalogue = await bench.with_user_components(catalogue)
    bench.own_components = tuple(one.type for one in bench.catalogue if one.type not in catalogue)
    bench.initial_flow = base.flow or Flow.empty()
    bench.mandate = call.mandate
    bench.auto_edit = call.mandate.is_open("replace_text")
    bench.tainted = True  # who calls is a model that may have read anything
    return Desk(call, bench, stored, base)


def wrong_arguments(wrong: ValidationError) -> str:
    """What is wrong with arguments, without the arguments."""
    problems = wrong.errors(include_url=False, include_input=False, include_context=False)
    lines = (f"- {'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in problems[:10])
    return "\n".join(["The arguments are wrong; nothing was done.", *lines])
