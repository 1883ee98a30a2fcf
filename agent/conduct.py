"""One turn from request to result: sanitise, classify, one agent run, settle."""

import unicodedata
from time import perf_counter
from typing import TYPE_CHECKING

import logfire
from pydantic_ai import (
    Agent,
    AgentRunResultEvent,
    AgentStreamEvent,
    FinalResultEvent,
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage, UsageLimits

from agent.demo.planner import demo_intent, demo_model
from agent.failures import explain
from agent.intent import classify
from agent.prompts import filled, prompt
from agent.providers import ModelChoice
from agent.settle import settle
from agent.stream import Send
from agent.turn import Intent, Outcome, TurnEnded, TurnError, TurnRequest, TurnResult
from flows.checks import check
from flows.document import Flow
from flows.summary import canvas_summary
from runtime.results import ModelUsage
from tools.build import build_tools
from tools.discover import discover
from tools.edit import edit
from tools.events import FlowUpdate, Progress
from tools.read import read
from tools.run import run_tools
from tools.templates import template_list, template_use
from tools.workbench import Workbench

if TYPE_CHECKING:
    from agent.assistant import Assistant

READ_TOOLS: list[AbstractToolset[Workbench]] = [discover, read, template_list]
ALL_TOOLS: list[AbstractToolset[Workbench]] = [*READ_TOOLS, build_tools, template_use, edit, run_tools]

CUT = "\n... [the message was longer; the rest was cut]"

agent = Agent(deps_type=Workbench, name="wirewright", retries=3)
"""The one agent. A turn gives it its tools, instructions and model."""


class Conduct:
    """Runs one turn.

    Args:
        assistant: gives catalogue, runner and models.
        request: what the user asks.
        choice: the models that serve it.
    """

    def __init__(self, assistant: "Assistant", request: TurnRequest, choice: ModelChoice) -> None:
        self._assistant = assistant
        self._request = request
        self._choice = choice
        self._text = sanitise(request.text, assistant.settings.input_limit)
        self._intent: Intent = "action"
        self._usage = {"intent": RunUsage(), "main": RunUsage()}
        self._messages: list[ModelMessage] = []
        self._bench: Workbench | None = None
        self._started = perf_counter()

    async def run(self, send: Send) -> None:
        """Run the turn, sending its events; the last one is always a `TurnEnded`, unless the turn is cancelled."""
        self._started = perf_counter()
        with logfire.span("turn", session=self._request.session, provider=self._choice.provider) as span:
            await send(Progress(step="generating", message="Reading your request..."))
            try:
                result = await self._turn(send)
            except Exception as failure:  # noqa: BLE001  (the boundary of a turn: whatever failed becomes words for the user)
                span.record_exception(failure)
                error = explain(failure, self._choice.provider, list(self._choice.names))
                result = self._result("error", "", error=error)
            span.set_attributes({"intent": result.intent, "outcome": result.outcome, "seconds": result.seconds})
            await send(TurnEnded(result=result))

    async def _turn(self, send: Send) -> TurnResult:
        model = await self._classified()
        if self._intent == "off_topic":
            return self._result("refused", prompt("off_topic"))
        if not self._assistant.knows_components:
            await send(Progress(step="preparing_runner", message="Installing the flow engine (only the first time)..."))
        catalogue = await self._assistant.catalogue()
        bench = self._bench = self._assistant.workbench(self._request, catalogue, self._choice)
        if model is None:
            model = demo_model(bench, self._text)
        if self._intent == "action":
            await send(Progress(step="generating_flow", message="Working on the flow..."))
        text = await self._agent_run(model, bench, send)
        await self._settle(bench, send)
        return self._result("complete", text)

    async def _classified(self) -> Model | None:
        """Classify the message; returns the turn's model, or None when the demo planner serves."""
        if self._choice.is_demo:
            self._intent = demo_intent(self._text)
            return None
        model = self._assistant.model(self._choice)
        self._intent = await classify(self._text, model, self._usage["intent"])
        return model

    async def _agent_run(self, model: Model, bench: Workbench, send: Send) -> str:
        asks = self._intent == "question"
        text = ""
        async with agent.run_stream_events(
            framed(self._text, bench.flow),
            deps=bench,
            model=model,
            instructions=prompt("question" if asks else "builder"),
            toolsets=READ_TOOLS if asks else ALL_TOOLS,
            usage=self._usage["main"],
            usage_limits=UsageLimits(request_limit=self._assistant.settings.request_limit),
        ) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    text = event.result.output
                    self._messages = event.result.new_messages()
                elif asks or not is_text(event):
                    await send(event)
        return text

    async def _settle(self, bench: Workbench, send: Send) -> None:
        settlement = settle(bench.flow, bench.proposal, ran=bench.proposal_ran)
        if settlement.kind == "applied":
            await send(bench.accept(settlement.canvas))
        elif settlement.kind == "offered":
            await send(Progress(step="flow_proposal_ready", message="The flow is ready for you to look at."))

    def _result(self, outcome: Outcome, text: str, *, error: TurnError | None = None) -> TurnResult:
        before = self._request.flow or Flow.empty()
        bench = self._bench
        result = TurnResult(
            outcome=outcome,
            intent=self._intent,
            text=text,
            before=before,
            after=before if bench is None else bench.flow,
            proposal=None if bench is None else bench.proposal,
            actions=[] if bench is None else bench.actions,
            runs=[] if bench is None else bench.runs,
            caveats=[] if bench is None else bench.caveats,
            usage=self._spent(),
            seconds=perf_counter() - self._started,
            models=answering(self._messages),
            messages=self._messages,
            error=error,
        )
        if bench is not None and (bench.actions or bench.proposal):
            result.faults = list(check(result.flow, bench.catalogue))
        return result

    def _spent(self) -> dict[str, RunUsage]:
        """What the turn spent by phase; the demo spends nothing, the models of the flows it ran may have."""
        spent = {} if self._choice.is_demo else dict(self._usage)
        flows = ModelUsage() if self._bench is None else self._bench.flow_usage
        if flows.calls:
            spent["flow"] = RunUsage(
                requests=flows.calls, input_tokens=flows.input_tokens, output_tokens=flows.output_tokens
            )
        return spent


def sanitise(text: str, limit: int) -> str:
    """A message without control characters other than line breaks and tabs, cut to a limit of characters, saying so."""
    kept = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"})
    return kept if len(kept) <= limit else kept[:limit] + CUT


def framed(text: str, canvas: Flow) -> str:
    """The prompt of a turn: the message, after a summary of the canvas when there is something on it."""
    return text if canvas.is_empty else filled("canvas", canvas=canvas_summary(canvas), text=text)


def is_text(event: AgentStreamEvent) -> bool:
    """Whether an event belongs to the answer's text, which is held back in turns that act."""
    match event:
        case PartStartEvent() | PartEndEvent():
            return isinstance(event.part, TextPart)
        case PartDeltaEvent():
            return isinstance(event.delta, TextPartDelta)
        case _:
            return isinstance(event, FinalResultEvent)


def answering(messages: list[ModelMessage]) -> list[str]:
    """The names of the models that answered, in order, each once."""
    names = [message.model_name for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return list(dict.fromkeys(names))


__all__ = ["Conduct", "FlowUpdate", "agent", "framed", "sanitise"]
