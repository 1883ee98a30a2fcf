"""The conversation that a turn belongs to: what it may look back on, what it answers, and what is left of it."""

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pydantic_ai import DeferredToolResults, ModelMessage, ToolApproved, ToolDenied
from pydantic_ai.messages import repair_messages

from agent.conversation.memory import ConversationState, Exchange, Memory, Pending
from agent.errors import AssistantUnavailable
from agent.turn.request import Answer
from agent.turn.result import TurnError, TurnResult
from flows.actions import FlowAction
from runtime.telemetry import log_event

SUPERSEDED = "The user did not answer and went on to something else."
"""What a suspended call is told when another message came instead of an answer."""

_locks: WeakKeyDictionary[Memory, asyncio.Lock] = WeakKeyDictionary()


class Conversation:
    """One turn's view of its conversation.

    Args:
        memory: where conversations are kept.
        user: whose it is.
        session: its id.
    """

    def __init__(self, memory: Memory, user: str, session: str) -> None:
        self._memory = memory
        self._key = (user, session)
        self._seen = ConversationState()
        self._quoted = False
        self._denied_plan: str | None = None
        self._resumed: Pending | None = None
        self.denied = False
        self.pending: Pending | None = None

    @property
    def turns(self) -> Sequence[Exchange]:
        """The turns before this one, oldest first."""
        return self._seen.turns

    @property
    def turn_number(self) -> int:
        """The number of this turn within the conversation, from 1."""
        return self._seen.turn_count + 1

    @property
    def undoable(self) -> tuple[FlowAction, ...]:
        """What the last turn that changed the canvas did to it."""
        return tuple(self._seen.undoable)

    def quote_plan(self, text: str) -> str | None:
        """The plan that was turned down and that this turn refines; it is quoted once.

        Args:
            text: the message that refines it.
        """
        plan = self._seen.dismissed_plan
        if plan is not None:
            self._quoted = True
            log_event(
                "assistant.plan.refining.send",
                session_id=self._key[1],
                stash_length=len(plan),
                refinement_length=len(text),
            )
        return plan

    async def drop_plan(self) -> None:
        """Forget the plan that was turned down, or that waits: it is quoted to no message any more."""
        async with self._lock:
            kept = await self._memory.load(*self._key)
            kept.dismissed_plan = None
            if kept.pending is not None and kept.pending.plan is not None:
                kept.pending = None
            await self._memory.save(*self._key, kept)

    async def begin(self) -> None:
        """Look back before a new message; what still waited for an answer is denied by it."""
        async with self._lock:
            kept = self._seen = await self._memory.load(*self._key)
            if kept.pending is not None:
                kept.dismissed_plan = kept.pending.plan or kept.dismissed_plan
                kept.pending = None
                await self._memory.save(*self._key, kept)

    async def answer(self, answers: dict[str, Answer], text: str) -> tuple[Pending, DeferredToolResults | None]:
        """Take answers to the turn that waits.

        Args:
            answers: by tool call id.
            text: a message that came with them; what it leaves unanswered is denied with it as the reason.

        Returns:
            The turn that waited, and all its answers, or None while some are missing.

        Raises:
            AssistantUnavailable: nothing waits, or not for these.
        """
        async with self._lock:
            kept = self._seen = await self._memory.load(*self._key)
            pending = kept.pending
            if pending is None:
                raise _refused("nothing_pending", "Nothing here waits for an answer.", "Send a message.")
            unknown = [call for call in answers if call not in pending.approvals]
            if unknown:
                known = ", ".join(pending.left)
                raise _refused(
                    "unknown_approval", f"No approval {unknown[0][:100]!r} is pending here.", f"Answer one of: {known}."
                )
            again = [call for call in answers if call in pending.answers]
            if again:
                raise _refused("already_answered", f"{again[0][:100]!r} was answered before.", "Answer what is left.")
            pending.answers = {**pending.answers, **answers}
            if text.strip():
                pending.answers.update({call: ToolDenied(text) for call in pending.left})
            kept.pending = pending if pending.left else None  # claimed: a second request cannot answer it again
            await self._memory.save(*self._key, kept)
        if pending.left:
            return pending, None
        self._resumed = pending
        self._note_denials(pending)
        return pending, DeferredToolResults(approvals={call: _told(said) for call, said in pending.answers.items()})

    async def remember(self, text: str, result: TurnResult, *, changed: bool) -> None:
        """Keep what is to be known of this turn later.

        Args:
            text: the message.
            result: what the turn came to.
            changed: whether it changed the canvas, so that an undo takes back this turn.
        """
        if result.outcome == "pending" and self.pending is not None and self.pending.answers:
            return  # only some answers came; they are kept already
        async with self._lock:
            kept = await self._memory.load(*self._key)
            kept.turn_count += 1
            if self._resumed is not None and kept.turns and kept.turns[-1].user == text:
                kept.turns = kept.turns[:-1]
            said = result.text if result.outcome in {"complete", "refused", "pending"} else ""
            if text.strip():
                kept.record(Exchange(user=text, assistant=said, messages=_closed(result.messages)))
            if self._resumed is not None and result.outcome in {"error", "cancelled"} and not _did(result):
                kept.pending = self._resumed.model_copy(update={"answers": {}})
            if result.outcome == "pending":
                kept.pending = self.pending
            if self._quoted:
                kept.dismissed_plan = None
            if self._denied_plan is not None:
                kept.dismissed_plan = self._denied_plan
            if any(approval.kind == "plan" for approval in result.approvals.values()):
                if self._quoted or kept.dismissed_plan is not None:
                    log_event("assistant.plan.replan", session_id=self._key[1])
                kept.dismissed_plan = None
            if changed:
                kept.undoable = list(result.actions)
            sessions = await self._memory.save(*self._key, kept)
            self._tell(text, said, len(kept.turns), sessions)

    def _tell(self, text: str, said: str, turns: int, sessions: int) -> None:
        """Tell that a turn was recorded, or that there was nothing worth keeping."""
        if not text.strip() or not said.strip():
            log_event("assistant.conversation_buffer.turn_skipped", reason="empty_response")
            return
        log_event(
            "assistant.conversation_buffer.turn_recorded",
            session_id=self._key[1],
            turn_index=turns - 1,
            user_length=len(text),
            assistant_length=len(said),
            sessions=sessions,
        )

    def _note_denials(self, pending: Pending) -> None:
        for call, said in pending.answers.items():
            approval = pending.approvals[call]
            if approval.kind == "plan":
                became = "dismissed" if isinstance(said, ToolDenied) else "continued"
                log_event(f"assistant.plan.{became}", session_id=self._key[1])
            if isinstance(said, ToolDenied):
                self.denied = True
                if approval.kind == "plan":
                    self._denied_plan = approval.markdown

    @property
    def _lock(self) -> asyncio.Lock:
        """One at a time reads and writes back a conversation; held only for that, never for a turn."""
        return _locks.setdefault(self._memory, asyncio.Lock())


def _did(result: TurnResult) -> bool:
    return bool(result.actions or result.runs or result.files or result.proposal)


def _told(answer: Answer) -> ToolApproved | ToolDenied:
    if isinstance(answer, ToolDenied):
        reason = answer.message.strip()
        default = ToolDenied().message
        words = "The user said no." if not reason or reason == default else f"The user said no: {reason}"
        return ToolDenied(f"{words} Nothing was changed by this call. Do not ask for the same again.")
    return answer


def _closed(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Messages that another run could follow, whatever the turn was stopped in."""
    return repair_messages(messages) if messages else []


def _refused(code: str, message: str, fix: str) -> AssistantUnavailable:
    return AssistantUnavailable(TurnError(code=code, message=message, fix=fix))
