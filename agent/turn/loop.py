"""The agent's part of a turn: one run, one more if needed, and an answer that claims only what happened."""

import logging
from collections.abc import AsyncIterable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from pydantic_ai import (
    Agent,
    AgentStreamEvent,
    BinaryContent,
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
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    capture_run_messages,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage, UsageLimits

from agent.conversation.compaction import HistoryCompaction
from agent.durable.steps import PLAIN, Steps
from agent.honesty.claims import Difference, Evidence, correction, differences
from agent.honesty.recovery import recover
from agent.honesty.remarks import Remarks
from agent.language.phrases import phrase
from agent.prompts.images import AttachedImages
from agent.toolsets.cached import Toolset, cached_toolset
from agent.toolsets.client import ClientTool, client_toolset
from agent.toolsets.framing import FramedResults
from agent.toolsets.hooks import RequestHooks, RunRequests, requests_of
from agent.toolsets.listing import UnlistedTools
from agent.toolsets.selection import acting_calls
from agent.turn.record import Asked, TurnRecord
from agent.turn.stream import Send
from flows.document import Flow
from flows.json_values import as_object
from runtime.telemetry import log_event
from tools.events import Progress
from tools.verify import verify
from tools.workbench import Workbench

agent: Agent[Workbench, str | DeferredToolRequests] = Agent(
    deps_type=Workbench,
    name="wirewright",
    retries=3,
    output_type=[str, DeferredToolRequests],
    capabilities=[RequestHooks()],
)
"""The one agent. Each turn brings its own tools, instructions and model."""


@dataclass
class CallResumed(FunctionToolCallEvent):
    """A call that was suspended, and of which the clients know, goes on."""


@dataclass(kw_only=True)
class AgentLoop:
    """Runs the agent for one turn.

    Attributes:
        model: the language model.
        bench: what the tools work on.
        instructions: the instructions for the turn's intent.
        toolsets: the tools for the turn's intent.
        unlisted: the names of those that the model is not shown.
        client_tools: those that the client carries out.
        send: receives the events.
        usage: counts what the run costs.
        limits: the limits of that cost.
        acts: whether something is to be done; the answer is then held back until it has been checked.
        checks_claims: whether the answer's claims are checked.
        images: the images of the message, for a model that sees them.
        language: the code of the user's language, if known.
        phrases: the language of the assistant's own phrases.
        asked: the kinds of act that the message asks for.
        done: returns what was done so far.
        context_tokens: the size of the model's context; None uses what PydanticAI knows about the model.
        settings: the settings of every model request, such as what is cached.
        steps: carries out what must not be done twice.
        messages: the agent's messages so far.
        disagrees: whether the last answer, tried once more, still claims what was not done.
    """

    model: Model
    bench: Workbench
    instructions: str
    toolsets: Sequence[Toolset]
    send: Send
    usage: RunUsage
    limits: UsageLimits
    acts: bool
    checks_claims: bool
    language: str | None
    phrases: str
    asked: tuple[Asked, ...]
    done: Callable[[], TurnRecord]
    context_tokens: int | None
    settings: ModelSettings = field(default_factory=ModelSettings)
    unlisted: Collection[str] = ()
    images: Sequence[BinaryContent] = ()
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    client_tools: Sequence[ClientTool] = ()
    disagrees: bool = False
    steps: Steps = PLAIN
    _resumed: Collection[str] = ()
    _remarks: Remarks = field(default_factory=Remarks)

    async def run(
        self,
        prompt: str | None,
        *,
        history: Sequence[ModelMessage] = (),
        answers: DeferredToolResults | None = None,
        must_act: bool = True,
    ) -> str | DeferredToolRequests:
        """Run the agent until it answers or has to wait for approvals.

        Args:
            prompt: the framed message; None when a turn is resumed.
            history: the messages before it was suspended.
            answers: the user's answers to its approvals.
            must_act: whether to try again after an answer without any action.
        """
        self._resumed = () if answers is None else {*answers.approvals, *answers.calls}
        answer = await self._run_agent(prompt, history, answers)
        if not isinstance(answer, str) or not self.checks_claims:
            return answer
        answer = await self._recover_flow(answer)
        found = self._differences(answer, must_act=must_act)
        if not found:
            return answer
        await self.send(Progress(step="retrying", message="Trying again...", attempt=2, max_attempts=2))
        answer = await self._run_agent(correction(found), self.messages, None)
        if not isinstance(answer, str):
            return answer
        answer = await self._recover_flow(answer)
        found = self._differences(answer, must_act=must_act)
        self.disagrees = bool(found)
        if found:
            log_event("assistant.answer.disagrees", logging.WARNING, differences=found)
        return answer

    def _differences(self, answer: str, *, must_act: bool) -> list[Difference]:
        """How the answer differs from what was done."""
        evidence = Evidence(
            record=self.done(),
            asked=self.asked,
            known=chain(_texts(self.messages), _values(self.bench.current)),
            language=self.language,
            attempted=bool(acting_calls(tool_calls(self.messages))),
            must_act=must_act,
        )
        return differences(answer, evidence)

    async def _run_agent(
        self, prompt: str | None, history: Sequence[ModelMessage], answers: DeferredToolResults | None
    ) -> str | DeferredToolRequests:
        shown = [AttachedImages(self.images)] if self.images and prompt is not None else []
        compaction = HistoryCompaction(model=self.model, usage=self.usage, context_tokens=self.context_tokens)
        requests = RunRequests(compaction, (UnlistedTools(self.unlisted), FramedResults(), *shown))
        with capture_run_messages() as captured, requests_of(requests):
            try:
                ended = await agent.run(
                    prompt,
                    message_history=list(history) or None,
                    deferred_tool_results=answers,
                    deps=self.bench,
                    model=self.model,
                    model_settings=self.settings,
                    instructions=self.instructions,
                    toolsets=self._all_toolsets(),
                    usage=self.usage,
                    usage_limits=self.limits,
                    event_stream_handler=self._forward,
                )
            except BaseException:
                self.messages = list(captured) or list(history)
                raise
        self.messages = ended.all_messages()
        return ended.output

    def _as_resumed(self, event: AgentStreamEvent) -> AgentStreamEvent:
        """The event; of a call that the suspended turn has told already, that it goes on."""
        if isinstance(event, FunctionToolCallEvent) and event.part.tool_call_id in self._resumed:
            return CallResumed(event.part, args_valid=event.args_valid)
        return event

    def _all_toolsets(self) -> list[AbstractToolset[Workbench]]:
        own = self.steps.toolset(cached_toolset(tuple(self.toolsets)), self.send)
        return [own, client_toolset(self.client_tools)] if self.client_tools else [own]

    async def forward(self, event: AgentStreamEvent) -> None:
        """Send an event of the agent's run, if clients are sent such events."""
        for remark in self._remarks.of(event) if self.acts else ():
            await self.send(remark)
        if is_forwarded(event, text=not self.acts):
            await self.send(self._as_resumed(event))

    async def _forward(self, _: RunContext[Workbench], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            await self.forward(event)

    async def _recover_flow(self, answer: str) -> str:
        """The answer; a flow that it spells out instead of building it is proposed, and its prose stays."""
        bench = self.bench
        found = None if bench.proposed else recover(answer, bench)
        if found is None:
            return answer
        log_event("flow_builder.text_fallback", logging.WARNING, node_count=len(found.flow.nodes))
        await self.steps.on_bench("recover", bench, partial(self._propose, found.flow))
        return found.text or phrase("recovered", self.phrases)

    async def _propose(self, flow: Flow) -> None:
        checked = await verify(self.send, self.bench, flow)
        problem = checked.caveat or checked.to_correct or checked.disappointment
        if problem:
            self.bench.caveats.append(problem)
        await self.bench.propose(self.send, flow)


def tool_calls(messages: Sequence[ModelMessage]) -> list[str]:
    """The names of the tools that were called, in order."""
    return [
        part.tool_name
        for message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]


def _texts(messages: Sequence[ModelMessage]) -> Iterator[str]:
    """What the model was given: prompts, with the canvas and the history that they quote, and what tools answered."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart | ToolReturnPart):
                yield str(part.content)


def _values(flow: Flow) -> Iterator[str]:
    """The names and the texts of a flow's components."""
    for node in flow.nodes:
        yield f"{node.id} {node.type} {node.display_name}"
        yield from (value for one in node.template.values() if isinstance(value := as_object(one).get("value"), str))


def is_forwarded(event: AgentStreamEvent, *, text: bool) -> bool:
    """Whether a turn forwards an event: custom events, thoughts, tool calls, their results, and the answer's text.

    Args:
        event: an event of the agent's run.
        text: whether the answer is streamed; a turn that acts holds it back until it has been checked.
    """
    match event:
        case PartStartEvent():
            return isinstance(event.part, ThinkingPart) or (text and isinstance(event.part, TextPart))
        case PartDeltaEvent():
            return isinstance(event.delta, ThinkingPartDelta) or (text and isinstance(event.delta, TextPartDelta))
        case _:
            return isinstance(event, CustomEvent | FunctionToolCallEvent | FunctionToolResultEvent)
