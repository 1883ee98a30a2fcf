"""Any PydanticAI agent as an AG-UI agent: its runs as events, its threads remembered here."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_ai import (
    AgentRunResultEvent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessage,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
    UsageLimits,
)
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.toolsets import AbstractToolset

from agent.toolsets.checked import CheckedToolset
from flows.json_values import as_object
from server.agui.behaviour import AguiConfig, outcome, shared
from server.agui.endings import RESPONSE
from server.agui.parts import AgentEvents
from server.agui.run_input import RunInput
from server.errors import ApiError

DEFAULT_PROMPT: Final = "Hello"
"""What a run without any message of the user's is begun with."""

NOT_CARRIED_OUT: Final = "Not carried out: the user went on without it."
"""The result of a call that the front end did not answer."""

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Thread:
    """One conversation.

    Attributes:
        messages: the agent's messages.
        calls: the front end's tools that wait, by call.
        approvals: the calls that wait for the user.
        lock: held by the run that goes on.
    """

    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    calls: set[str] = field(default_factory=set[str])
    approvals: set[str] = field(default_factory=set[str])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class AguiAdapter:
    """Runs an agent for AG-UI clients.

    Args:
        agent: the agent; it has no state of its own, so that one serves all threads.
        config: what is done beside its tools.
    """

    def __init__(self, agent: AbstractAgent[Any, Any], config: AguiConfig) -> None:
        self._agent, self._config = agent, config
        self._threads: OrderedDict[str, Thread] = OrderedDict()

    async def run(self, run: RunInput) -> AsyncGenerator[dict[str, Any]]:
        """The events of a run: `RUN_STARTED` first, `RUN_FINISHED` or `RUN_ERROR` last."""
        names = {"threadId": run.thread_id, "runId": run.run_id}
        version = {} if run.protocol_version is None else {"protocolVersion": "1.0"}
        yield {"type": "RUN_STARTED", **names, **version}
        if given := as_object(run.state):
            yield {"type": "STATE_SNAPSHOT", "snapshot": shared(given)}
        thread = self._thread(run.thread_id)
        made = AgentEvents(run, self._config)
        try:
            async with thread.lock:
                async for event in self._events(run, thread, made):
                    yield event
        except ApiError as refused:
            yield {"type": "RUN_ERROR", "message": refused.message, "code": refused.code}
            return
        except Exception:
            log.exception("agui.run.failed")
            for event in made.close():
                yield event
            yield {"type": "RUN_ERROR", "message": "The agent has failed.", "code": "AGENT_ERROR"}
            return
        interrupts = [_interrupt(call) for call in sorted(thread.approvals)]
        finished: dict[str, Any] = {"type": "RUN_FINISHED", **names}
        if interrupts:
            finished["outcome"] = {"type": "interrupt", "interrupts": interrupts}
        elif run.protocol_version is not None:
            finished["outcome"] = {"type": "success"}
        yield finished

    async def _events(self, run: RunInput, thread: Thread, made: AgentEvents) -> AsyncGenerator[dict[str, Any]]:
        results = _results(run, thread)
        prompt = await self._prompt(run, resumes=results is not None)
        deps = None if self._config.deps is None else self._config.deps(run)
        made.known = set(thread.calls | thread.approvals)
        async with self._agent.run_stream_events(
            prompt,
            message_history=thread.messages or None,
            deferred_tool_results=results,
            output_type=[self._agent.output_type, DeferredToolRequests],
            toolsets=_front_end(run),
            deps=deps,
            usage_limits=UsageLimits(request_limit=self._config.request_limit),
        ) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    result = event.result
                    thread.messages = result.all_messages()
                    waiting = result.output if isinstance(result.output, DeferredToolRequests) else None
                    thread.calls = {call.tool_call_id for call in waiting.calls} if waiting else set()
                    thread.approvals = {call.tool_call_id for call in waiting.approvals} if waiting else set()
                else:
                    async for one in made.of(event):
                        yield one
        for one in made.close():
            yield one

    async def _prompt(self, run: RunInput, *, resumes: bool) -> str | None:
        """The user's last message, with what the application adds; None for a run that only goes on."""
        users = [(at, one) for at, one in enumerate(run.messages) if one.role == "user"]
        if resumes and not any(one.role == "user" for _, one in run.new):
            return None
        text = users[-1][1].text(f"$.messages.{users[-1][0]}.content") if users else DEFAULT_PROMPT
        built = await outcome(self._config.state_context_builder, run, text)
        return built if isinstance(built, str) else text

    def _thread(self, name: str) -> Thread:
        thread = self._threads.setdefault(name, Thread())
        self._threads.move_to_end(name)
        idle = [one for one, kept in self._threads.items() if not kept.lock.locked() and kept is not thread]
        for one in idle[: max(0, len(self._threads) - self._config.threads)]:
            del self._threads[one]
        return thread


def _front_end(run: RunInput) -> list[AbstractToolset[Any]]:
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.parameters or {"type": "object", "properties": {}}),
        )
        for tool in run.tools
    ]
    return [CheckedToolset(tools)] if tools else []


def _results(run: RunInput, thread: Thread) -> DeferredToolResults | None:
    """What waits, answered: by the front end's results and the user's decisions, and otherwise as not carried out.

    Raises:
        ApiError: an answer is to nothing that waits.
    """
    has_message = any(message.role == "user" for _, message in run.new)
    given = {one.tool_call_id: one.content for _, one in run.new if one.role == "tool" and one.tool_call_id}
    resume = {entry.interrupt_id: entry for entry in run.resume or ()}
    odd = [*(set(given) - thread.calls if not has_message else ()), *(set(resume) - thread.approvals)]
    if odd:
        message = f"Nothing waits for an answer to {odd[0][:100]!r}."
        raise ApiError(422, "UNKNOWN_TOOL_CALL", message, "Answer what the last run of the thread has asked.")
    if not (thread.calls or thread.approvals):
        return None
    results = DeferredToolResults()
    for call in thread.calls:
        results.calls[call] = given.get(call, NOT_CARRIED_OUT)
    for call in thread.approvals:
        entry = resume.get(call)
        payload = entry.payload if entry is not None and entry.status == "resolved" else None
        decided = payload if isinstance(payload, dict) else {"approved": payload is True}
        changed = decided.get("editedArgs")
        if decided.get("approved") is True:
            results.approvals[call] = ToolApproved(override_args=changed if isinstance(changed, dict) else None)
        else:
            results.approvals[call] = ToolDenied(str(decided.get("reason") or NOT_CARRIED_OUT))
    return results


def _interrupt(call: str) -> dict[str, Any]:
    return {
        "id": call,
        "reason": "tool_call",
        "toolCallId": call,
        "message": "May this tool be called?",
        "responseSchema": RESPONSE,
    }
