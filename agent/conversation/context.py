"""The conversation of a turn: earlier turns, pending approvals, and what is saved at the end."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from weakref import WeakKeyDictionary, WeakValueDictionary

from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied

from agent.conversation.memory import ConversationState, Exchange, Memory, Pending, title_of
from agent.conversation.notes import note_effects, notes_of
from agent.conversation.pending.approvals import AskedApproval
from agent.conversation.pending.resuming import (
    MOVED_ON,
    moved_on,
    outcomes,
    refuse_mistaken,
    tool_results,
    withdraw_expired,
)
from agent.conversation.proposals import Offers
from agent.conversation.transcript.message import Decided, SentMessage, transcript_message
from agent.conversation.transcript.parts import NewMessage
from agent.errors import AssistantUnavailable
from agent.turn.request import Answer, ToolAnswered
from agent.turn.result import TurnError, TurnResult
from flows.document import Flow
from runtime.telemetry import log_event
from tools.approvals import Approval
from tools.workbench import Emit, Workbench

_locks: WeakKeyDictionary[Memory, WeakValueDictionary[tuple[str, str], asyncio.Lock]] = WeakKeyDictionary()

_QUESTION_MARK = re.compile("[?？؟]")


class Conversation:
    """One turn's view of its conversation.

    Args:
        memory: where conversations are stored.
        user: the user's id.
        session: the conversation's id.
        access: how the conversations are read and written; None for the memory itself.
        days: for how many days a question waits.

    Attributes:
        denied: whether the user denied one of the approvals that this turn resumes with.
        partly_answered: whether this turn brought answers to some of the approvals only.
        pending: the approvals with which this turn is suspended.
        withdrawn: the approvals that waited and that this turn's message did not answer.
    """

    def __init__(
        self, memory: Memory, user: str, session: str, access: Memory | None = None, days: float = 90.0
    ) -> None:
        self._memory, self._days = access or memory, days
        self._key = (user, session)
        # Serialises reading and writing one conversation; held for that only, never for a whole turn.
        locks = _locks.get(memory)
        if locks is None:
            locks = _locks[memory] = WeakValueDictionary()
        self._lock = locks.get(self._key) or locks.setdefault(self._key, asyncio.Lock())
        self._state = ConversationState()
        self._plan_quoted = False
        self._denied_plan: str | None = None
        self._resumed: Pending | None = None
        self._answered, self._given = dict[str, Answer](), dict[str, Answer]()
        self._before: ConversationState | None = None
        self._wanted = ""
        self.denied = self.partly_answered = False
        self.pending: Pending | None = None
        self.withdrawn: dict[str, Approval] = {}

    @property
    def turns(self) -> Sequence[Exchange]:
        """The turns before this one, oldest first."""
        return self._state.turns

    @property
    def language(self) -> str | None:
        """The code of the language of the last message that was long enough to be in one."""
        return next((turn.language for turn in reversed(self.turns) if turn.language is not None), None)

    @property
    def turn_number(self) -> int:
        """The number of this turn within the conversation, from 1."""
        return self._state.turn_count + 1

    @property
    def origin(self) -> int:
        """The number of the turn that began the work: of the suspended turn when this one resumes it."""
        return self.turn_number if self._resumed is None else self._resumed.turn or self.turn_number

    @property
    def proposals(self) -> Offers:
        """The proposals of earlier turns that were not accepted."""
        return self._state.offers

    @property
    def offer_awaits_reply(self) -> bool:
        """Whether the last turn offered a proposal that still waits, and asked no other question."""
        last, waits = self.turns[-1:], self.proposals.open
        return waits is not None and any(
            turn.offered == waits.id and not _QUESTION_MARK.search(turn.assistant) for turn in last
        )

    @property
    def interrupted(self) -> bool:
        """Whether the last turn was stopped or failed, so that going on means to finish it and accepts nothing."""
        waiting = self._state.pending
        return (waiting is not None and waiting.interrupted) or any(not turn.assistant for turn in self.turns[-1:])

    def carry_on(self, bench: Workbench) -> None:
        """Give a workbench what earlier turns left: what can be undone, and the proposal that still waits.

        Args:
            bench: the workbench of this turn.
        """
        bench.undo_stack = self._state.undo_stack.model_copy()
        bench.foreign_hosts, bench.refused_bundles = self._state.foreign_hosts, self._state.refused_bundles
        if bench.host_rule != "ask":
            bench.allowed_hosts = self._state.approved_hosts
        bench.offers = {offer.id: offer.flow for offer in self.proposals.kept}
        waits = self.proposals.open
        if waits is not None:
            bench.open_offer, bench.proposal = waits.id, waits.flow

    async def settle_answered(self, bench: Workbench, emit: Emit) -> None:
        """Do what the user decided about proposals by their ids."""
        for name, answer in self._answered.items():
            offer = self.proposals.get(name)
            if offer is None:
                continue
            if isinstance(answer, ToolDenied):
                if bench.open_offer == name:
                    bench.proposal = None
                continue
            waiting, bench.proposal = bench.proposal, offer.flow
            changed = answer.override_args if isinstance(answer, ToolApproved) else None
            await bench.place(emit, replaces=(changed or {}).get("replace") is True)
            bench.proposal = None if bench.open_offer == name else waiting

    def take_answers(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        """Keep the answers to proposals for `settle_answered`; returns the others.

        Args:
            answers: by id.
        """
        decided = {name: answer for name, answer in answers.items() if not isinstance(answer, ToolAnswered)}
        self._answered = {name: answer for name, answer in decided.items() if self.proposals.get(name) is not None}
        return {name: answer for name, answer in answers.items() if name not in self._answered}

    def quote_plan(self, text: str) -> str | None:
        """Return the dismissed plan that the message refines, if any; it is quoted in one turn only."""
        plan = self._state.dismissed_plan
        if plan is not None:
            self._plan_quoted = True
            log_event(
                "assistant.plan.refining.send",
                session_id=self._key[1],
                stash_length=len(plan),
                refinement_length=len(text),
            )
        return plan

    async def drop_plan(self) -> None:
        """Forget the dismissed or pending plan, so that no later message quotes it."""
        async with self._lock:
            state = await self._memory.load(*self._key)
            state.dismissed_plan = None
            if state.pending is not None and state.pending.plan is not None:
                state.pending = None
            await self._memory.save(*self._key, state)

    async def begin(self, canvas: Flow) -> Pending | None:
        """Load the conversation for a new message; returns the suspended turn, whose approvals it may answer.

        Args:
            canvas: the canvas of the request.
        """
        await self.look(canvas)
        return self._state.pending

    async def withdraw(self, canvas: Flow) -> None:
        """Deny what waits because the message is about something else; the history keeps that it was asked.

        Args:
            canvas: the canvas of the request, on which a client may have applied edits itself.
        """
        if self._state.pending is None:
            return
        async with self._lock:
            state = await self._load()
            waiting = state.pending
            if waiting is None:
                return
            self._state = state
            accepted = waiting.accepted_on(canvas)
            self.withdrawn = {call: one for call, one in waiting.unanswered.items() if call not in accepted}
            state.note_answers(dict.fromkeys(accepted, "approved"))
            state.note_answers(dict.fromkeys(self.withdrawn, "withdrawn"))
            state.dismissed_plan = waiting.plan or state.dismissed_plan
            state.pending = None
            if waiting.proposal is not None and waiting.proposed:
                state.offers.add(waiting.turn, waiting.proposal, waiting.canvas)
            await self._memory.save(*self._key, state)
            state.reconcile(canvas)

    async def look(self, canvas: Flow) -> None:
        """Load the conversation for answers to its proposals; what waits for an approval goes on waiting.

        Args:
            canvas: the canvas of the request.
        """
        async with self._lock:
            self._state = await self._load()
        self._state.reconcile(canvas)

    async def answer(
        self, answers: dict[str, Answer], text: str, canvas: Flow | None = None, *, wanted: str = ""
    ) -> tuple[Pending, DeferredToolResults | None]:
        """Record answers to the pending approvals.

        Args:
            answers: by tool call id.
            text: a message sent with them; approvals left unanswered are denied with it as the reason.
            canvas: the canvas of the request; an edit that stands on it counts as accepted.
            wanted: the words in which the user asked for what was denied to be done differently.

        Returns:
            The suspended turn, and all its answers, or None while some are missing.

        Raises:
            AssistantUnavailable: nothing is pending, or an answer is to none of the pending approvals.
        """
        async with self._lock:
            state = self._state = await self._load()
            pending = state.pending
            if pending is None:
                raise _refused("nothing_pending", "No approval is pending in this conversation.", "Send a message.")
            unknown = next((call for call in answers if call not in pending.approvals), None)
            if unknown is not None:
                known = f"Answer one of: {', '.join(pending.unanswered)}."
                raise _refused("unknown_approval", f"No approval {unknown[:100]!r} is pending here.", known)
            again = next((call for call in answers if call in pending.answers), None)
            if again is not None:
                message = f"{again[:100]!r} was answered before."
                raise _refused("already_answered", message, "Answer the approvals that are still pending.")
            refuse_mistaken(pending, answers)
            self.withdrawn = {} if canvas is None else moved_on(pending, canvas)
            answers = {**answers, **{call: ToolDenied(MOVED_ON) for call in self.withdrawn if call in answers}}
            accepted = {call: ToolApproved() for call in pending.accepted_on(canvas)}
            earlier = pending.answers
            pending.answers = {**accepted, **pending.answers, **answers}
            if text.strip():
                pending.answers.update({call: ToolDenied(text) for call in pending.unanswered})
            self._given = {call: one for call, one in pending.answers.items() if call not in earlier}
            self._state.pending = state.pending = pending if pending.unanswered else None  # it is answered once only
            await self._memory.save(*self._key, state)
        self.partly_answered = bool(pending.unanswered)
        if pending.unanswered:
            return pending, None
        self._resumed, self._wanted = pending, wanted
        self._note_denials(pending)
        return pending, tool_results(pending, wanted, canvas)

    async def remember(
        self,
        text: str,
        result: TurnResult,
        sent: SentMessage,
        bench: Workbench | None,
        canvas: Flow | None = None,
        language: str | None = None,
    ) -> None:
        """Save what later turns need to know of this one.

        Args:
            text: the message.
            result: the turn's result.
            sent: what the user sent, for the transcript.
            bench: its workbench, if it came to open one.
            canvas: the canvas to keep with the conversation.
            language: the code of the message's language, if it is in one.
        """
        async with self._lock:
            state = await self._load()
            message = self._message(sent, result, state)
            if self.partly_answered:  # the answers are saved already
                await self._memory.save(*self._key, state, message(state))
                return
            state.turn_count += 1
            answer = result.text if result.outcome in {"complete", "refused", "pending"} else ""
            tainted = bench is not None and bench.tainted
            self._record(state, text, answer, result, language, tainted=tainted)
            if result.outcome == "pending":
                state.pending = self.pending
            if self._plan_quoted:
                state.dismissed_plan = None
            if self._denied_plan is not None:
                state.dismissed_plan = self._denied_plan
            if any(approval.kind == "plan" for approval in result.approvals.values()):
                if self._plan_quoted or state.dismissed_plan is not None:
                    log_event("assistant.plan.replan", session_id=self._key[1])
                state.dismissed_plan = None
            state.reconcile(result.before)
            if bench is not None:
                note_effects(state, result, bench, self.origin, self._resumed, self._answered)
            state.canvas = canvas or state.canvas
            state.updated_at = datetime.now(UTC).isoformat(timespec="seconds")
            sessions = await self._memory.save(*self._key, state, message(state))
        if not text.strip() or not answer.strip():
            log_event("assistant.conversation_buffer.turn_skipped", reason="empty_response")
            return
        log_event(
            "assistant.conversation_buffer.turn_recorded",
            session_id=self._key[1],
            turn_index=len(state.turns) - 1,
            user_length=len(text),
            assistant_length=len(answer),
            sessions=sessions,
        )

    async def _load(self) -> ConversationState:
        """The conversation as it is stored; how it was at first is kept for the transcript."""
        state = await self._memory.load(*self._key)
        self._before = self._before or state
        withdraw_expired(state, self._days)
        return state

    def _message(
        self, sent: SentMessage, result: TurnResult, state: ConversationState
    ) -> Callable[[ConversationState], NewMessage]:
        """What makes the message of the transcript, once the conversation has become what it is after it."""
        resumed, before = self._resumed, "" if self._before is None else self._before.as_read
        answers, superseded = {**self._given, **self._answered}, list[str]()
        waited, placed = None if self._before is None else self._before.offers.open, result.record.proposal
        if waited is not None and placed is not None and placed.status == "applied":
            if waited.is_part_of(result.after):
                answers.setdefault(waited.id, ToolApproved())  # in words
            elif waited.id not in answers:
                superseded = [waited.id]
        decided = Decided(answers, self._wanted, [] if resumed is None else resumed.messages, superseded)
        # What a resumed turn asks is asked for the first time, though a call that goes on asks under the same id.
        turns = state.turns if resumed is None else []
        made, title = transcript_message(sent, result, decided, turns), title_of(sent.text or result.text)
        return lambda after: NewMessage(
            message=made, title=after.title or title, waiting=after.pending is not None, before=before
        )

    def _record(
        self,
        state: ConversationState,
        text: str,
        answer: str,
        result: TurnResult,
        language: str | None,
        *,
        tainted: bool,
    ) -> None:
        """Record the turn in the history, and what became of the approvals with which it was resumed."""
        resumed, asked = self._resumed, [AskedApproval.of(*one) for one in result.approvals.items()]
        acted = result.actions or result.runs or result.files or result.proposal
        answered_keys = resumed is not None and bool(resumed.keys)  # they are kept or forgotten, whatever came then
        if resumed is not None and not answered_keys and result.outcome in {"error", "cancelled"} and not acted:
            state.pending = resumed.model_copy(update={"answers": {}, "interrupted": True})
        elif resumed is not None:
            state.note_answers(*outcomes(resumed, self._wanted))
        if resumed is not None and state.turns and (state.turns[-1].user == text or answered_keys):
            asked = [*state.turns[-1].asked, *asked]
            state.turns = state.turns[:-1]
        if text.strip():
            known = {one.call for turn in state.turns for one in turn.asked if one.outcome == "open"}
            asked = [one for one in asked if one.call not in known]  # a question may be repeated
            state.record(
                Exchange(
                    user=text,
                    assistant=answer,
                    asked=asked,
                    notes=notes_of(result),
                    offered=result.proposal_id,
                    language=language,
                    tainted=tainted,
                )
            )

    def _note_denials(self, pending: Pending) -> None:
        for call, answer in pending.answers.items():
            approval, denied = pending.approvals[call], isinstance(answer, ToolDenied)
            self.denied = self.denied or denied
            if approval.kind == "plan":
                log_event(f"assistant.plan.{'dismissed' if denied else 'continued'}", session_id=self._key[1])
                if denied:
                    self._denied_plan = approval.markdown


def _refused(code: str, message: str, fix: str) -> AssistantUnavailable:
    return AssistantUnavailable(TurnError(code=code, message=message, fix=fix))
