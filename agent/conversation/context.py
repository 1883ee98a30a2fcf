"""The conversation of a turn: earlier turns, pending approvals, and what is saved at the end."""

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import repair_messages

from agent.conversation.memory import ConversationState, Exchange, Memory, Pending
from agent.errors import AssistantUnavailable
from agent.turn.request import Answer
from agent.turn.result import TurnError, TurnResult
from flows.actions import FlowAction
from runtime.telemetry import log_event

_locks: WeakKeyDictionary[Memory, asyncio.Lock] = WeakKeyDictionary()


class Conversation:
    """One turn's view of its conversation.

    Args:
        memory: where conversations are stored.
        user: the user's id.
        session: the conversation's id.

    Attributes:
        denied: whether the user denied one of the approvals that this turn resumes with.
        pending: the approvals with which this turn is suspended.
    """

    def __init__(self, memory: Memory, user: str, session: str) -> None:
        self._memory = memory
        self._key = (user, session)
        self._state = ConversationState()
        self._plan_quoted = False
        self._denied_plan: str | None = None
        self._resumed: Pending | None = None
        self.denied = False
        self.pending: Pending | None = None

    @property
    def turns(self) -> Sequence[Exchange]:
        """The turns before this one, oldest first."""
        return self._state.turns

    @property
    def turn_number(self) -> int:
        """The number of this turn within the conversation, from 1."""
        return self._state.turn_count + 1

    @property
    def undoable(self) -> tuple[FlowAction, ...]:
        """The changes made by the last turn that changed the canvas."""
        return tuple(self._state.undoable)

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

    async def begin(self) -> None:
        """Load the conversation for a new message, which denies all pending approvals."""
        async with self._lock:
            state = self._state = await self._memory.load(*self._key)
            if state.pending is not None:
                state.dismissed_plan = state.pending.plan or state.dismissed_plan
                state.pending = None
                await self._memory.save(*self._key, state)

    async def answer(self, answers: dict[str, Answer], text: str) -> tuple[Pending, DeferredToolResults | None]:
        """Record answers to the pending approvals.

        Args:
            answers: by tool call id.
            text: a message sent with them; approvals left unanswered are denied with it as the reason.

        Returns:
            The suspended turn, and all its answers, or None while some are missing.

        Raises:
            AssistantUnavailable: nothing is pending, or an answer is to none of the pending approvals.
        """
        async with self._lock:
            state = self._state = await self._memory.load(*self._key)
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
            pending.answers = {**pending.answers, **answers}
            if text.strip():
                pending.answers.update({call: ToolDenied(text) for call in pending.unanswered})
            state.pending = pending if pending.unanswered else None  # so that a second request cannot answer it again
            await self._memory.save(*self._key, state)
        if pending.unanswered:
            return pending, None
        self._resumed = pending
        self._note_denials(pending)
        return pending, DeferredToolResults(approvals={call: _for_model(one) for call, one in pending.answers.items()})

    async def remember(self, text: str, result: TurnResult, *, changed: bool) -> None:
        """Save what later turns need to know of this one.

        Args:
            text: the message.
            result: the turn's result.
            changed: whether the turn changed the canvas, so that an undo reverts it.
        """
        if result.outcome == "pending" and self.pending is not None and self.pending.answers:
            return  # only some answers came, and they are saved already
        async with self._lock:
            state = await self._memory.load(*self._key)
            state.turn_count += 1
            answer = result.text if result.outcome in {"complete", "refused", "pending"} else ""
            if self._resumed is not None and state.turns and state.turns[-1].user == text:
                state.turns = state.turns[:-1]
            if text.strip():
                messages = repair_messages(result.messages) if result.messages else []  # the turn may have been cut off
                state.record(Exchange(user=text, assistant=answer, messages=messages))
            acted = result.actions or result.runs or result.files or result.proposal
            if self._resumed is not None and result.outcome in {"error", "cancelled"} and not acted:
                state.pending = self._resumed.model_copy(update={"answers": {}})
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
            if changed:
                state.undoable = list(result.actions)
            sessions = await self._memory.save(*self._key, state)
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

    def _note_denials(self, pending: Pending) -> None:
        for call, answer in pending.answers.items():
            approval, denied = pending.approvals[call], isinstance(answer, ToolDenied)
            self.denied = self.denied or denied
            if approval.kind == "plan":
                log_event(f"assistant.plan.{'dismissed' if denied else 'continued'}", session_id=self._key[1])
                if denied:
                    self._denied_plan = approval.markdown

    @property
    def _lock(self) -> asyncio.Lock:
        """Serialises reading and writing conversations; held for that only, never for a whole turn."""
        return _locks.setdefault(self._memory, asyncio.Lock())


def _for_model(answer: Answer) -> Answer:
    """The answer as the model reads it: a denial says what follows from it."""
    if isinstance(answer, ToolApproved):
        return answer
    reason = answer.message.strip()
    denial = "The user said no." if reason in {"", ToolDenied().message} else f"The user said no: {reason}"
    return ToolDenied(f"{denial} Nothing was changed by this call. Do not ask for the same again.")


def _refused(code: str, message: str, fix: str) -> AssistantUnavailable:
    return AssistantUnavailable(TurnError(code=code, message=message, fix=fix))
