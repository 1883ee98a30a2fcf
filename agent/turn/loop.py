"""The agent's part of a turn: one run, at most one more try, and an answer that says only what happened."""

import logging
from collections.abc import AsyncIterable, Sequence
from typing import TypeVar

from pydantic_ai import (
    Agent,
    AgentStreamEvent,
    CustomEvent,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    RunContext,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    capture_run_messages,
)
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage, UsageLimits

from agent.honesty.claims import NOTHING_CHANGED, correction, false_claims
from agent.honesty.recovery import recover, without_flows
from agent.honesty.summary import change_summary
from agent.language.phrases import phrase
from agent.toolsets.cached import Toolset, cached_toolset
from agent.toolsets.selection import acting_calls
from agent.turn.history import HistoryCompaction
from agent.turn.stream import Send
from runtime.telemetry import log_event
from tools.events import Progress
from tools.verify import verify
from tools.workbench import Workbench

agent: Agent[Workbench, str | DeferredToolRequests] = Agent(
    deps_type=Workbench, name="wirewright", retries=3, output_type=[str, DeferredToolRequests]
)
"""The one agent. A turn gives it its tools, instructions and model."""

Event = TypeVar("Event", bound=CustomEvent)


class EventSender:
    """Emits a turn's own events the way a tool does.

    Args:
        send: where they go.
    """

    def __init__(self, send: Send) -> None:
        self._send = send

    async def emit(self, event: Event, /) -> Event:
        """Send one event."""
        await self._send(event)
        return event


class AgentLoop:
    """Runs the agent for one turn.

    Args:
        model: answers.
        bench: what the tools work on.
        instructions: the prompt of this kind of turn.
        toolsets: the tools of this kind of turn.
        send: where events go.
        usage: takes what it costs.
        limits: what it may cost.
        acts: whether something is to be done; then text is held until it has been checked.
        checks_claims: whether the answer's claims are checked; the demo planner reports only what its tools answered.
        language: the language of the assistant's own phrases.
        context_tokens: what the model can hold; None takes what is known of it.
    """

    def __init__(
        self,
        model: Model,
        bench: Workbench,
        *,
        instructions: str,
        toolsets: Sequence[Toolset],
        send: Send,
        usage: RunUsage,
        limits: UsageLimits,
        acts: bool,
        checks_claims: bool,
        language: str,
        context_tokens: int | None,
    ) -> None:
        self._model = model
        self._bench = bench
        self._instructions = instructions
        self._toolset = cached_toolset(tuple(toolsets))
        self._send = send
        self._usage = usage
        self._limits = limits
        self._acts = acts
        self._checks_claims = checks_claims and acts
        self._language = language
        self._compaction = HistoryCompaction(model=model, usage=usage, context_tokens=context_tokens)
        self.messages: list[ModelMessage] = []

    async def run(
        self,
        prompt: str | None,
        *,
        history: Sequence[ModelMessage] = (),
        answers: DeferredToolResults | None = None,
        must_act: bool = True,
    ) -> str | DeferredToolRequests:
        """Run the agent to an answer, or to what it waits for.

        Args:
            prompt: the framed message; None when a turn goes on.
            history: what was said before it stopped.
            answers: what the user answered.
            must_act: whether an answer without any action is worth another try.
        """
        said = await self._once(prompt, history, answers)
        if not isinstance(said, str) or not self._checks_claims:
            return said
        said = await self._recover_flow(said)
        request = self._correction(said, must_act=must_act)
        if request is None:
            return said
        await self._send(Progress(step="retrying", message="Trying again...", attempt=2, max_attempts=2))
        again = await self._once(request, self.messages, None)
        if not isinstance(again, str):
            return again
        again = await self._recover_flow(again)
        if false_claims(again, self._bench):
            log_event("assistant.claims.withheld", logging.WARNING, claims=false_claims(again, self._bench))
            return change_summary(self._bench, self._language)
        if must_act and not self._acted():
            nothing = phrase("nothing", self._language)
            return again if nothing in again else f"{again}\n\n{nothing}".strip()
        return again

    async def _once(
        self, prompt: str | None, history: Sequence[ModelMessage], answers: DeferredToolResults | None
    ) -> str | DeferredToolRequests:
        with capture_run_messages() as heard:
            try:
                ended = await agent.run(
                    prompt,
                    message_history=list(history) or None,
                    deferred_tool_results=answers,
                    deps=self._bench,
                    model=self._model,
                    instructions=self._instructions,
                    toolsets=[self._toolset],
                    usage=self._usage,
                    usage_limits=self._limits,
                    capabilities=[self._compaction],
                    event_stream_handler=self._forward,
                )
            except BaseException:
                self.messages = list(heard) or list(history)
                raise
        self.messages = ended.all_messages()
        return ended.output

    async def _forward(self, _: RunContext[Workbench], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            if is_shown(event, text=not self._acts):
                await self._send(event)

    def _correction(self, said: str, *, must_act: bool) -> str | None:
        claims = false_claims(said, self._bench)
        if must_act and not self._acted():
            return NOTHING_CHANGED
        return correction(claims) if claims else None

    def _acted(self) -> bool:
        """Whether anything was done, or at least attempted with a tool that acts."""
        return self._bench.acted or bool(acting_calls(tool_calls(self.messages)))

    async def _recover_flow(self, said: str) -> str:
        """An answer without the flow that it spells out; a usable one is put forward as if it had been built."""
        if self._bench.proposal is not None:
            return without_flows(said) or change_summary(self._bench, self._language)
        found = recover(said, self._bench.catalogue)
        if found is None:
            return said
        log_event("flow_builder.text_fallback", logging.WARNING, node_count=len(found.flow.nodes))
        bench = self._bench
        sender = EventSender(self._send)
        checked = await verify(sender, bench, found.flow)
        trouble = checked.caveat or checked.mendable
        if trouble:
            bench.caveats.append(trouble)
        await bench.propose(sender, found.flow)
        return found.text or phrase("recovered", self._language)


def tool_calls(messages: Sequence[ModelMessage]) -> list[str]:
    """The names of the tools that were called, in order."""
    return [
        part.tool_name
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]


def is_shown(event: AgentStreamEvent, *, text: bool) -> bool:
    """Whether a turn forwards an event: our own, tool calls with their results, and the answer's text.

    Args:
        event: an event of the agent's run.
        text: whether the answer is shown while it is written; in turns that act it is held back until it was checked.
    """
    match event:
        case PartStartEvent():
            return text and isinstance(event.part, TextPart)
        case PartDeltaEvent():
            return text and isinstance(event.delta, TextPartDelta)
        case _:
            return isinstance(event, CustomEvent | FunctionToolCallEvent | FunctionToolResultEvent)
