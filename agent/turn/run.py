"""One turn from request to result: sanitise, classify, one agent run, settle, remember."""

import asyncio
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING

import anyio
import logfire
from opentelemetry.trace import StatusCode, get_current_span
from pydantic_ai import DeferredToolRequests, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage, UsageLimits

from agent.conversation.context import Conversation
from agent.conversation.memory import Pending
from agent.demo.planner import demo_intent, demo_model
from agent.honesty.account import change_summary, phrase
from agent.language.intent import Classification, classify
from agent.language.requests import asks_run, asks_undo, language, steps
from agent.models.providers import ModelChoice, ProviderInfo, available
from agent.prompts import prompt
from agent.prompts.framing import Frame, likely_components, mentions_values, sanitise
from agent.turn.errors import AssistantUnavailable, explain
from agent.turn.loop import AgentLoop, EventSender, tool_calls
from agent.turn.request import TurnRequest
from agent.turn.result import Intent, Outcome, TurnEnded, TurnError, TurnResult
from agent.turn.settle import settle
from agent.turn.stream import Send
from agent.turn.tool_selection import WRITES_COMPONENTS, acting_calls, all_tools, tools_for
from flows.actions import StaleAction
from flows.checks import check
from flows.component_type import ComponentType
from flows.document import Flow
from runtime.results import ModelUsage
from tools.approvals import asked
from tools.events import MadeComponent, Progress, Step
from tools.mandate import has_long_names
from tools.toolsets.undo import undo_edit
from tools.workbench import Workbench

if TYPE_CHECKING:
    from agent.assistant import Assistant


MANY = 2
"""Single steps beyond which a message counts as a compound one."""

REMEMBER_SECONDS = 5.0
"""How long remembering a turn that was cancelled may take."""

_MANY: tuple[Step, str] = ("orchestrating", "Orchestrating...")
_STEPS: dict[Intent, tuple[Step, str]] = {
    "build_flow": ("generating_flow", "Generating flow..."),
    "component_then_flow": _MANY,
    "generate_component": ("generating_component", "Generating component..."),
    "run_flow": ("generating", "Preparing the run..."),
    "manage_files": ("generating_document", "Generating document..."),
}


class Conduct:
    """Runs one turn.

    Args:
        assistant: gives catalogue, runner, models and memory.
        request: what the user asks.
        choice: the models that serve it.
    """

    def __init__(self, assistant: "Assistant", request: TurnRequest, choice: ModelChoice) -> None:
        self._assistant = assistant
        self._request = request
        self._choice = choice
        self._text = sanitise(request.text, assistant.settings.input_limit)
        self._read = Classification()
        self._usage = {"intent": RunUsage(), "main": RunUsage()}
        self._messages: list[ModelMessage] = []
        self._before = request.flow or Flow.empty()
        self._bench: Workbench | None = None
        self._loop: AgentLoop | None = None
        self._talk = Conversation(assistant.memory, request.user, request.session)
        self._started = perf_counter()

    @property
    def canvas(self) -> Flow:
        """The canvas with every change made so far."""
        return self._before if self._bench is None else self._bench.flow

    async def run(self, send: Send) -> None:
        """Run the turn, sending its events; the last one is always a `TurnEnded`, unless the turn is cancelled."""
        self._started = perf_counter()
        with logfire.span("turn", conversation=self._request.session, provider=self._choice.provider) as span:
            await send(Progress(step="generating", message="Reading your request..."))
            try:
                result = await self._turn(send)
                await self._talk.remember(self._text, result, changed=self._undoable())
            except asyncio.CancelledError:
                span.set_attributes({"intent": self._read.intent, "outcome": "cancelled", **self._cost()})
                with anyio.move_on_after(REMEMBER_SECONDS, shield=True):
                    await self._talk.remember(self._text, self._result("cancelled", ""), changed=self._undoable())
                raise
            except Exception as failure:  # noqa: BLE001  (the boundary of a turn: whatever failed becomes words for the user)
                span.set_attribute("error_type", type(failure).__name__)
                get_current_span().set_status(StatusCode.ERROR)
                if self._assistant.settings.trace_content:  # an exception may quote what was said
                    span.record_exception(failure)
                error = explain(failure, self._choice.provider, list(self._choice.names))
                result = self._result("error", "", error=error)
                span.set_attribute("error_code", error.code)
                with suppress(Exception):  # the failure to be told is the first one
                    await self._talk.remember(self._text, result, changed=self._undoable())
            told = {"intent": result.intent, "outcome": result.outcome, "seconds": result.seconds, **self._cost()}
            span.set_attributes(told)
            await send(TurnEnded(result=result))

    async def _turn(self, send: Send) -> TurnResult:
        if self._request.answers:
            return await self._answered(send)
        await self._talk.begin()
        if asks_undo(self._text):
            return await self._undone(send)
        model = await self._classified()
        if self._read.intent == "off_topic":
            return self._result("refused", prompt("off_topic"))
        bench = await self._set_up(send)
        asks = self._read.intent == "question"
        if not asks:
            await send(self._step())
        loop = self._loop = self._agent(model or demo_model(bench, self._text), bench, send)
        return await self._ended(await loop.run(self._framed(bench)), bench, send)

    def _step(self) -> Progress:
        """What is said to happen now: what the message was taken for, or that it asks for several things."""
        many = self._read.intent == "build_flow" and asks_run(self._text, self._english)
        step, message = _MANY if many or steps(self._english) > MANY else _STEPS[self._read.intent]
        return Progress(step=step, message=message)

    async def _classified(self) -> Model | None:
        """Classify the message; returns the turn's model, or None when the demo planner serves."""
        if self._choice.is_demo:
            self._read = Classification(intent=demo_intent(self._text))
            return None
        model = await self._assistant.model(self._choice)
        with logfire.span("intent"):
            self._read = await classify(self._text, model, self._usage["intent"])
        if self._read.intent == "question" and asks_run(self._text, self._read.english):
            self._read = self._read.model_copy(update={"intent": "run_flow"})
        return model

    async def _set_up(self, send: Send, pending: Pending | None = None) -> Workbench:
        """The workbench of the turn; for one that goes on, with what its first half had put forward."""
        if not self._assistant.knows_components:
            await send(Progress(step="preparing_runner", message="Installing the flow engine (only the first time)..."))
        catalogue = await self._assistant.catalogue()
        request = self._request.model_copy(update={"flow": self._before})
        bench = self._bench = self._assistant.workbench(request, catalogue, self._choice)
        if bench.workshop is not None:
            bench.catalogue, faults = await bench.workshop.catalogue(catalogue)
            if faults:
                message = f"One of the flow's own components cannot be used: line {faults[0].line}: {faults[0].message}"
                raise AssistantUnavailable(TurnError(code="invalid_component", message=message, fix=faults[0].fix))
        always = self._request.apply == "always"
        bench.applies_plans = always
        bench.applies_texts = always
        bench.runs_next = self._read.intent != "run_flow" and asks_run(self._text, self._read.english)
        bench.undoable = self._talk.undoable
        bench.words = f"{self._text}\n{self._read.english}"
        bench.tainted = has_long_names(bench.flow) or mentions_values(self._text)
        if pending is not None:
            bench.proposal = pending.proposal
            bench.caveats.extend(pending.caveats)
            bench.tainted = bench.tainted or pending.tainted
        return bench

    def _agent(self, model: Model, bench: Workbench, send: Send) -> AgentLoop:
        settings = self._assistant.settings
        asks = self._read.intent == "question"
        demo = self._choice.is_demo
        return AgentLoop(
            model,
            bench,
            instructions=instructions(self._read.intent),
            toolsets=all_tools() if demo else tools_for(self._read.intent, bench, self._english),
            send=send,
            usage=self._usage["main"],
            limits=UsageLimits(
                request_limit=settings.request_limit,
                tool_calls_limit=settings.tool_limit,
                total_tokens_limit=settings.token_limit,
            ),
            acts=not asks,
            judged=not demo,
            language=self._language,
            context_tokens=settings.context_tokens,
        )

    def _framed(self, bench: Workbench) -> str:
        """The prompt: what surrounds the message, then the message."""
        builds = self._read.intent in {"build_flow", "component_then_flow"}
        frame = Frame(
            canvas=bench.flow,
            history=self._talk.turns,
            dismissed_plan=self._talk.quote_plan(self._text) if builds else None,
            likely=likely_components(self._english, bench.catalogue) if builds else (),
            models=[f"{info.name}:{info.models[0]}" for info in self._providers() if info.models] if builds else (),
            wish=":".join(filter(None, (self._read.provider, self._read.model))) or None if builds else None,
        )
        return self._text if self._choice.is_demo else frame.around(self._text)

    def _providers(self) -> list[ProviderInfo]:
        """The providers whose models a flow may use."""
        return available(self._assistant.keys.environment())

    async def _answered(self, send: Send) -> TurnResult:
        """Go on with a turn that waited, when all its questions are answered."""
        pending, answers = await self._talk.answer(dict(self._request.answers), self._text)
        self._text = self._text or pending.text
        self._read = Classification(intent=pending.intent, english=pending.english, language=pending.language)
        self._before = self._request.flow or pending.canvas
        if answers is None:
            return self._result("pending", phrase("waiting", self._language), waits=pending)
        bench = await self._set_up(send, pending)
        bench.applies_texts = bench.applies_texts or pending.apply == "always"
        demo = self._choice.is_demo
        model = demo_model(bench, pending.text) if demo else await self._assistant.model(self._choice)
        loop = self._loop = self._agent(model, bench, send)
        said = await loop.run(None, history=pending.messages, answers=answers, must_act=not self._talk.denied)
        return await self._ended(said, bench, send)

    async def _undone(self, send: Send) -> TurnResult:
        """Take back what the last turn changed; no model is needed for that."""
        bench = await self._set_up(send)
        self._read = Classification(intent="build_flow")
        if not bench.undoable:
            return self._result("complete", phrase("no_undo", self._language))
        try:
            edit = undo_edit(bench.flow, bench.undoable)
        except StaleAction:
            return self._result("complete", phrase("stale_undo", self._language))
        await bench.commit(EventSender(send), edit)
        return self._result("complete", phrase("undone", self._language))

    async def _ended(self, said: str | DeferredToolRequests, bench: Workbench, send: Send) -> TurnResult:
        if isinstance(said, DeferredToolRequests):
            return self._result("pending", self._preamble(), waits=self._pending(said, bench))
        settlement = settle(bench.flow, bench.proposal, ran=bench.proposal_ran)
        if settlement.kind == "applied":
            await send(bench.accept(settlement.canvas))
        elif settlement.kind == "offered":
            await send(Progress(step="flow_proposal_ready", message="The flow is ready for you to look at."))
        return self._result("complete", said or change_summary(bench, self._language))

    def _pending(self, waits: DeferredToolRequests, bench: Workbench) -> Pending:
        return Pending(
            text=self._text,
            english=self._read.english,
            language=self._read.language,
            intent=self._read.intent,
            model=self._request.model,
            apply=self._request.apply,
            messages=self._heard,
            approvals={call.tool_call_id: asked(waits.metadata[call.tool_call_id]) for call in waits.approvals},
            canvas=bench.flow,
            proposal=bench.proposal,
            caveats=bench.caveats,
            tainted=bench.tainted,
        )

    def _preamble(self) -> str:
        """What the model said as it stopped to ask, or that the user is waited for."""
        last = next((one for one in reversed(self._heard) if isinstance(one, ModelResponse)), None)
        said = "" if last is None else "".join(part.content for part in last.parts if isinstance(part, TextPart))
        return said.strip() or phrase("waiting", self._language)

    def _result(
        self, outcome: Outcome, text: str, *, error: TurnError | None = None, waits: Pending | None = None
    ) -> TurnResult:
        bench = self._bench
        result = TurnResult(
            outcome=outcome,
            intent=self._read.intent,
            text=text,
            before=self._before,
            after=self.canvas,
            proposal=None if bench is None else bench.proposal,
            actions=[] if bench is None else bench.actions,
            runs=[] if bench is None else bench.runs,
            caveats=[] if bench is None else bench.caveats,
            files=[] if bench is None else bench.files,
            components=[] if bench is None else [made(one) for one in bench.components],
            approvals={} if waits is None else waits.left,
            deferred=waits is not None and self._steps_left(),
            usage=self._spent(),
            seconds=perf_counter() - self._started,
            models=answering(self._heard),
            messages=self._heard,
            error=error,
        )
        if waits is not None:
            self._talk.pending = waits
        if bench is not None and (bench.actions or bench.proposal):
            result.faults = list(check(result.flow, bench.catalogue))
        return result

    def _steps_left(self) -> bool:
        """Whether the message asks for more than what was done and what waits for an answer."""
        runs = asks_run(self._text, self._read.english) and not (self._bench and self._bench.runs)
        return runs or steps(self._english) > len(acting_calls(tool_calls(self._heard)))

    def _undoable(self) -> bool:
        return self._bench is not None and bool(self._bench.actions)

    @property
    def _heard(self) -> list[ModelMessage]:
        return [] if self._loop is None else self._loop.messages

    @property
    def _english(self) -> str:
        return self._read.english or self._text

    @property
    def _language(self) -> str:
        return language(self._text, self._read.language)

    def _spent(self) -> dict[str, RunUsage]:
        """What the turn spent by phase; the demo spends nothing, the models of the flows it ran may have."""
        spent = {} if self._choice.is_demo else dict(self._usage)
        flows = ModelUsage() if self._bench is None else self._bench.flow_usage
        if flows.calls:
            spent["flow"] = RunUsage(
                requests=flows.calls, input_tokens=flows.input_tokens, output_tokens=flows.output_tokens
            )
        return spent

    def _cost(self) -> dict[str, int]:
        """What the turn spent in all, for its trace."""
        spent = list(self._spent().values())
        return {
            "requests": sum(usage.requests for usage in spent),
            "input_tokens": sum(usage.input_tokens for usage in spent),
            "output_tokens": sum(usage.output_tokens for usage in spent),
        }


def instructions(intent: Intent) -> str:
    """The instructions of a turn; how a component is written is said only where one may be."""
    parts = ["question" if intent == "question" else "builder"]
    if intent in WRITES_COMPONENTS:
        parts.append("components")
    return "\n\n".join(prompt(part) for part in parts)


def made(component: ComponentType) -> MadeComponent:
    """A component type of this turn, as the result tells it."""
    return MadeComponent(class_name=component.type, source=component.code)


def answering(messages: list[ModelMessage]) -> list[str]:
    """The names of the models that answered, in order, each once."""
    names = [message.model_name for message in messages if isinstance(message, ModelResponse) and message.model_name]
    return list(dict.fromkeys(names))
