"""The state of one turn: its request, what it has done so far, and its result."""

import math
from collections.abc import Collection, Sequence
from time import perf_counter
from uuid import uuid4

from pydantic_ai import AgentStreamEvent, ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage

from agent.conversation.context import Conversation
from agent.conversation.memory import Pending
from agent.conversation.proposals import offer_id
from agent.conversation.transcript.message import SentMessage
from agent.demo.answers import demo_meaning
from agent.demo.intent import demo_intent, demo_refusal, refusal
from agent.demo.mandate import demo_mandate
from agent.demo.reading import RULES_LIMIT, read
from agent.durable.steps import PLAIN, Steps
from agent.honesty.statement import statement
from agent.language.detect import detect_language, supported_language
from agent.language.intent import Classification, classify
from agent.language.phrases import languages, phrase
from agent.language.replies import reply_language
from agent.language.requests import asks_run, keeps_language, rewind_language, step_count
from agent.models.providers import PROVIDERS, ModelChoice
from agent.models.usage import answering_models, usage_by_model
from agent.prompts.framing import sanitise
from agent.toolsets.selection import acting_calls
from agent.turn.loop import AgentLoop, tool_calls
from agent.turn.record import Asked, TurnRecord, display_names, record_of
from agent.turn.request import TurnRequest
from agent.turn.result import Intent, Outcome, TurnError, TurnResult
from agent.turn.services import CanvasStore, TurnServices
from agent.turn.stream import Send
from flows.document import Flow
from flows.fields.keys import FoundKey
from runtime.gateway.limits.patience import PatientModel
from runtime.results import ModelUsage
from runtime.sessions.run_entry import RunEntry
from runtime.tracing import span
from tools.approvals import approval_text
from tools.effects import PlanEffect
from tools.events import NewComponent, Progress
from tools.mandate import Effect
from tools.workbench import Workbench

_ASKED: dict[Intent, tuple[Asked, ...]] = {
    "build_flow": ("edit",),
    "run_flow": ("run",),
    "generate_component": ("component",),
    "component_then_flow": ("component", "edit"),
    "manage_files": ("files",),
}

_MANDATED: dict[Effect, Asked] = {"write_files": "files", "overwrite_files": "files", "write_components": "component"}


class Turn:
    """One turn, from its request to its result.

    Args:
        services: what the assistant provides.
        request: the user's request.
        choice: the models that serve it.
        store: the stored flow that it works on, if any.
        keys: those that were removed from the request's text, in order.
        steps: carries out what must not be done twice.
    """

    send: Send
    """Receives the events; set by `begin`."""

    def __init__(
        self,
        services: TurnServices,
        request: TurnRequest,
        choice: ModelChoice,
        store: CanvasStore | None = None,
        keys: Sequence[FoundKey] = (),
        steps: Steps = PLAIN,
    ) -> None:
        self.store = store
        self.steps = steps
        self.services = services
        self.request = request
        self.choice = choice
        text = sanitise(request.text, services.settings.input_limit)
        self.id = request.turn_id or uuid4().hex
        self._typed = text
        self.is_too_long = choice.is_demo and len(text) > RULES_LIMIT
        """Whether the message is not read, because only rules would read it."""
        self.text = text[:RULES_LIMIT] if self.is_too_long else text
        self.original_text = self.text
        """The message that began the work; for a resumed turn, the one that was suspended."""
        self.classification = Classification()
        self.classified = False
        self.before = request.flow or Flow.empty()
        self.keys = keys
        self.drops_key = request.held_keys
        """Whether the request held a key that is not kept."""
        self.kept_keys: list[str] = []
        """The variables that keys were kept as in this turn."""
        access, kept = steps.memory(services.memory), services.settings.approvals_kept
        self.conversation = Conversation(services.memory, request.user, request.session, access, kept)
        self.usage = {"intent": RunUsage(), "main": RunUsage()}
        self.bench: Workbench | None = None
        self.loop: AgentLoop | None = None
        self.denied_plans: list[PlanEffect] = []
        self.client_tools = request.tools
        """The tools that the client carries out; of a resumed turn, with those that it had."""
        self.wanted = ""
        """The words in which the user asked for something else than was proposed, when the turn is resumed."""
        self.accepts_proposal = False
        """Whether the message says yes to the proposal that waits, and asks for more."""
        self.earlier = TurnRecord()
        """What was done before the turn was suspended."""
        self.answer = ""
        """What the model answered in the end; the record then also says what of it was not done."""
        self._model: Model | None = None
        self._logged_runs = 0
        self._started = perf_counter()

    def begin(self, send: Send) -> None:
        """Start the clock and set where the events go."""
        self.send = send
        self._started = perf_counter()

    def end(self) -> None:
        """Let go of what refers back to the turn, so that it is freed at once and not by the collection of garbage."""
        self.loop = self._model = None

    @property
    def canvas(self) -> Flow:
        """The canvas with every change made so far."""
        return self.before if self.bench is None else self.bench.flow

    @property
    def messages(self) -> list[ModelMessage]:
        """The agent's messages so far."""
        return [] if self.loop is None else self.loop.messages

    @property
    def english(self) -> str:
        """The message that began the work, in English if it was translated, else as written."""
        return self.classification.english or self.original_text

    @property
    def language(self) -> str:
        """The language of what the assistant itself says in this turn; a bare yes or no does not change it."""
        code, text = self.language_code, self.text
        if code is None and keeps_language(text):
            code = self.conversation.language or reply_language(text) or rewind_language(text)
        return code if code in languages("nothing") else supported_language(self.text, code)

    @property
    def message_language(self) -> str | None:
        """The code of the language of the message itself; None when it says too little to be in one."""
        if keeps_language(self.text):
            return None
        if self.choice.is_demo:
            return read(self.text).language
        return self.language_code or detect_language(self.text)

    @property
    def refusal(self) -> str:
        """Why an off-topic message is refused."""
        if self.choice.is_demo:
            return demo_refusal(self.text)
        return phrase("off_topic", self.language)

    @property
    def runs(self) -> bool:
        """Whether the message asks for a run."""
        return asks_run(self.text, self.original_text, self.classification.english)

    @property
    def requested_acts(self) -> tuple[Asked, ...]:
        """The kinds of act that the message asks for: by its intent, its mandate and its words."""
        asked = _ASKED.get(self.classification.intent, ())
        if not asked or self.only_reads_files:
            return ()
        mandated: list[Asked] = [_MANDATED[one] for one in self.classification.mandate.effects if one in _MANDATED]
        runs = self.runs or "run" in self.classification.mandate.effects
        run: tuple[Asked, ...] = ("run",) if runs else ()
        every: tuple[Asked, ...] = (*asked, *run, *mandated)
        return tuple(dict.fromkeys(every))

    @property
    def only_reads_files(self) -> bool:
        """Whether the message is about the user's files and asks for no effect, so that an answer is enough."""
        read = self.classification
        return read.intent == "manage_files" and not self.choice.is_demo and not (read.mandate.is_read or self.runs)

    @property
    def done(self) -> TurnRecord:
        """What was done so far, without its text, and in both parts of a turn that was suspended."""
        return self._done_here.after(self.earlier)

    @property
    def record(self) -> TurnRecord:
        """What was done so far; its text, in the user's language, also says what was done before a question."""
        record = self._done_here
        whole = record.after(self.earlier)
        record.not_done = whole.undone_acts(self.requested_acts)
        names = display_names(self.before, self.canvas)
        record.text = statement(whole, self.requested_acts, self.language, names, self.answer)
        return record

    @property
    def _done_here(self) -> TurnRecord:
        record = TurnRecord()
        if self.bench is not None:
            waiting = () if self.conversation.pending is None else self.conversation.pending.unanswered.values()
            record = record_of(self.bench, tuple(waiting), self.denied_plans)
        if self.wanted and record.did("edit"):  # what was wanted otherwise was done so
            record.plans = [one.as_changed() if one.status == "denied" else one for one in record.plans]
        return record

    @property
    def language_code(self) -> str | None:
        """The code of the message's language, if the classifier named one."""
        return (self.classification.language or "").strip().lower()[:2] or None

    async def model(self) -> Model:
        """The language model of this turn, the same for every request, so that the chain stays with what answered."""
        if self._model is None:
            model = await self.services.model(self.choice)
            patient = PatientModel(model, self._send_wait, self.services.settings.wait_limit)
            self._model = self.steps.model(patient, self.forward)
        return self._model

    async def forward(self, event: AgentStreamEvent) -> None:
        """Send an event of a model's answer, if clients are sent such events."""
        if self.loop is not None:
            await self.loop.forward(event)

    async def _send_wait(self, seconds: float) -> None:
        info = PROVIDERS.get(self.choice.provider)
        title = "The model provider" if info is None else info.title
        await self.send(Progress(step="waiting", message=f"{title} asks to wait {math.ceil(seconds)} s..."))

    async def refresh(self) -> None:
        """Read the stored flow again, because other turns came before this one."""
        if self.store is not None:
            self.before = await self.store.load()
            self.request = self.request.model_copy(update={"flow": self.before})

    async def classify(self, waiting: Collection[str] = ()) -> None:
        """Classify the message, by the model or by the demo planner's rules.

        Args:
            waiting: the kinds of question that wait for an answer.
        """
        self.classified = True
        if self.choice.is_demo:
            self._classify_by_rules(waiting)
            return
        model = await self.model()
        with span("intent"):
            self.classification = await classify(self.text, model, self.usage["intent"], waiting)
        intent = self.classification.intent
        if intent == "off_topic" and (self.request.files or self.client_tools):
            intent = "question"  # the classifier is told neither of the message's files nor of the client's tools
        if intent == "question" and self.runs:
            intent = "run_flow"
        self.classification = self.classification.model_copy(update={"intent": intent})

    def _classify_by_rules(self, waiting: Collection[str]) -> None:
        """Classify the message as the demo planner does."""
        offered = self.conversation.proposals.open
        worked_on = self.before if offered is None else offered.flow
        intent, reply = demo_intent(self.text, worked_on), None
        if intent == "off_topic" and self.request.files and refusal(self.text) is None:
            intent = "question"
        if waiting:
            reply, intent = demo_meaning(self.text, worked_on)
        self.classification = Classification(
            intent=intent, mandate=demo_mandate(self.text, intent), language=self.message_language, reply=reply
        )

    @property
    def _remembered(self) -> str:
        """The message for later turns, with what was attached to it."""
        return f"{self.text}\n(Attached: {', '.join(self.request.files)})" if self.request.files else self.text

    async def save(self, result: TurnResult) -> None:
        """Save the canvas, and what later turns need to know of this one."""
        if self.store is not None:
            await self.store.save(self.canvas)
        await self._log_runs()
        kept = self.canvas if self.request.keep_canvas else None
        sent = SentMessage(
            id=self.id,
            text=self._typed,
            files=self.request.files,
            flow_id=self.request.flow_id,
            version=None if self.store is None else self.store.version,
        )
        await self.conversation.remember(self._remembered, result, sent, self.bench, kept, self.message_language)

    async def count_usage(self) -> None:
        """Count what this turn used, once."""
        runs = 0 if self.bench is None else len(self.bench.runs)
        answered, phases = answering_models(self.messages), self._usage_by_phase()
        used = usage_by_model(self.choice, answered, phases, self.messages, runs)
        await self.steps.count(self.services.usage_log, self.request.user, used)

    async def _log_runs(self) -> None:
        """Keep what ran for the user, once."""
        bench, request = self.bench, self.request
        if bench is None:
            return
        inputs = [run.input for run in bench.run_log if run.by == "user"]
        for result, text in list(zip(bench.runs, inputs, strict=True))[self._logged_runs :]:
            self._logged_runs += 1
            name = bench.current.name or "Untitled Flow"
            entry = RunEntry.of(
                result, text, flow=request.run_key, name=name, source="assistant", session=request.session
            )
            await self.steps.log_run(self.services.run_log, request.user, entry, result)

    def result(
        self, outcome: Outcome, text: str = "", *, error: TurnError | None = None, pending: Pending | None = None
    ) -> TurnResult:
        """The result of the turn as it is now.

        Args:
            outcome: how the turn ended.
            text: the answer.
            error: why it failed.
            pending: the approvals that it is suspended for.
        """
        if pending is not None:
            self.conversation.pending = pending
        result = TurnResult(
            outcome=outcome,
            intent=self.classification.intent,
            text=self._with_notice(text),
            language=self.language,
            before=self.before,
            after=self.canvas,
            approvals={} if pending is None else pending.unanswered,
            deferred=pending is not None and self._has_further_steps(),
            usage=self._usage_by_phase(),
            seconds=perf_counter() - self._started,
            models=answering_models(self.messages),
            messages=self.messages,
            error=error,
            withdrawn=self.conversation.withdrawn,
        )
        result.record = self.record
        bench = self.bench
        if bench is not None:
            result.proposal = bench.proposal if bench.proposed else None
            result.proposal_id = None if result.proposal is None else offer_id(self.conversation.origin)
            result.actions, result.runs, result.caveats = bench.actions, bench.runs, bench.caveats
            result.files = bench.files
            result.components = [NewComponent(class_name=one.type, source=one.code) for one in bench.components]
            if (bench.actions or bench.proposed) and not result.flow.is_empty:
                result.faults = list(bench.check(result.flow))
        return result

    def _with_notice(self, text: str) -> str:
        """The answer, which says what became of the keys of the message, and what waited and was not done."""
        notices = [phrase("key_kept", self.language, name) for name in self.kept_keys]
        if self.drops_key:
            notices.append(phrase("key_removed", self.language))
        withdrawn = [one for one in self.conversation.withdrawn.values() if one.kind != "tool"]
        notices += [phrase("withdrawn", self.language, one.kind, approval_text(one)) for one in withdrawn]
        missing = [notice for notice in notices if notice not in text]
        return "\n\n".join([text, *missing]) if text else text

    def cost(self) -> dict[str, int]:
        """The cost of all phases, for the trace."""
        phases, counts = self._usage_by_phase().values(), ("requests", "input_tokens", "output_tokens")
        return {count: sum(getattr(usage, count) for usage in phases) for count in counts}

    def _has_further_steps(self) -> bool:
        """Whether the message asks for more than what was done and what is suspended."""
        pending = self.conversation.pending
        if pending is not None and len(pending.calls) > len(pending.approvals):
            return True
        runs = self.runs and not (self.bench and self.bench.runs)
        return runs or step_count(self.english) > len(acting_calls(tool_calls(self.messages)))

    def _usage_by_phase(self) -> dict[str, RunUsage]:
        """The usage by phase; the demo planner itself uses nothing, but the flows it runs may."""
        phases = {} if self.choice.is_demo else dict(self.usage)
        flows = ModelUsage() if self.bench is None else self.bench.flow_usage
        if flows.calls:
            phases["flow"] = RunUsage(
                requests=flows.calls, input_tokens=flows.input_tokens, output_tokens=flows.output_tokens
            )
        return phases
