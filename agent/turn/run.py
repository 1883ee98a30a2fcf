"""One turn: classify, then answer or act, settle, save, complete."""

import asyncio
from contextlib import suppress
from functools import partial

import anyio
from opentelemetry.trace import StatusCode, get_current_span

from agent.conversation.memory import Pending
from agent.demo.answers import asks_why
from agent.demo.reading import RULES_LIMIT
from agent.demo.replies import reply
from agent.errors import AssistantUnavailable, explain
from agent.language.phrases import phrase
from agent.language.questions import questions_in_words
from agent.language.replies import asks_to_continue, plain_reply
from agent.language.requests import asks_redo, asks_to_place, asks_undo
from agent.turn.answers.keys import ask_about_keys
from agent.turn.answers.resume import resume
from agent.turn.answers.words import answer_in_words, decide_in_words
from agent.turn.commands import answer_proposals, place_proposal, redo, undo
from agent.turn.record import display_names
from agent.turn.result import TurnEnded, TurnError, TurnResult
from agent.turn.serve import serve
from agent.turn.state import Turn
from agent.turn.stream import Send
from runtime.telemetry import context_fields
from runtime.tracing import Span
from runtime.tracing import span as open_span
from tools.events import Progress

SAVE_SECONDS = 5.0
"""The time limit for saving a cancelled turn."""

TOO_LONG = TurnError(
    code="message_too_long",
    message=f"The demo planner reads messages of up to {RULES_LIMIT:,} characters.",
    fix="Write a shorter message and put long text into a file, or use a language model.",
)


async def run_turn(turn: Turn, send: Send) -> None:
    """Run one turn; its last event is always a `TurnEnded`, unless the turn is cancelled.

    Args:
        turn: the turn.
        send: receives the events.
    """
    turn.begin(send)
    choice = turn.choice
    with open_span("turn", conversation=turn.request.session, provider=choice.provider, **context_fields()) as span:
        await send(Progress(step="generating", message="Reading your request..."))
        try:
            async with turn.services.queue.turn(turn.request.user, turn.request.session, partial(_waits, send)) as late:
                result = await _saved_result(turn, span, late=late)
        except AssistantUnavailable as refused:  # too many are waiting; nothing was begun, so nothing is saved
            result = turn.result("error", error=refused.error)
        span.set_attributes(
            {"intent": result.intent, "outcome": result.outcome, "seconds": result.seconds, **turn.cost()}
        )
        turn.end()
        await send(TurnEnded(result=result))


async def _waits(send: Send) -> None:
    await send(Progress(step="generating", message="Waiting for the message before this one..."))


async def _saved_result(turn: Turn, span: Span, *, late: bool) -> TurnResult:
    """Run a turn and save it, however it ends.

    Args:
        turn: the turn.
        span: receives failures.
        late: whether other turns came before it, so that its stored flow is read again.
    """
    choice = turn.choice
    try:
        if await turn.steps.value("queue", partial(_as_it_is, late)):
            await turn.refresh()
        result = await _outcome(turn)
        await turn.save(result)
    except asyncio.CancelledError:
        span.set_attributes({"intent": turn.classification.intent, "outcome": "cancelled", **turn.cost()})
        with anyio.move_on_after(SAVE_SECONDS, shield=True):
            await turn.save(turn.result("cancelled"))
        raise
    except Exception as failure:  # noqa: BLE001  (the boundary of a turn: every failure becomes a message for the user)
        result = turn.result("error", error=explain(failure, choice.provider, list(choice.names)))
        _trace_failure(span, failure, result, content=turn.services.settings.trace_content)
        with suppress(Exception):  # the first failure is the one to report
            await turn.save(result)
    finally:
        with anyio.move_on_after(SAVE_SECONDS, shield=True):
            await turn.count_usage()
    return result


async def _as_it_is(late: bool) -> bool:  # noqa: FBT001  (what a step records)
    return late


async def _outcome(turn: Turn) -> TurnResult:
    if turn.is_too_long:
        raise AssistantUnavailable(TOO_LONG)
    if turn.request.answers:
        await turn.conversation.look(turn.before)
        rest = turn.conversation.take_answers(dict(turn.request.answers))
        if rest:
            return await resume(turn, rest)
        if not turn.text.strip():
            return await answer_proposals(turn)
    pending = await turn.conversation.begin(turn.before)
    if pending is not None and not turn.request.dismiss:
        answered = await answer_in_words(turn, pending)
        if answered is not None:
            return answered
        if turn.classification.reply == "other" and turn.classification.intent in {"question", "off_topic"}:
            return await _answer_question(turn, pending)
    await turn.conversation.withdraw(turn.before)
    decided = None if pending is not None and turn.request.dismiss else await _decide(turn)
    if decided is not None:
        return decided
    asked = await ask_about_keys(turn) if turn.keys else None
    return asked or await serve(turn)


async def _decide(turn: Turn) -> TurnResult | None:
    """Do what plain words ask for; None when the message is a request of its own."""
    if turn.conversation.interrupted and asks_to_continue(turn.text):
        if not turn.choice.is_demo:
            return None
        turn.text = turn.original_text = turn.conversation.turns[-1].user
    if asks_undo(turn.text) and not (turn.conversation.proposals.open is not None and plain_reply(turn.text) == "deny"):
        return await undo(turn)
    if asks_redo(turn.text):
        return await redo(turn)
    if asks_to_place(turn.text) and turn.conversation.proposals.open is not None:
        return await place_proposal(turn)
    return await decide_in_words(turn)


async def _answer_question(turn: Turn, pending: Pending) -> TurnResult:
    """Answer a question that changes nothing; what waits goes on waiting."""
    if turn.choice.is_demo and asks_why(turn.text):
        kinds = dict.fromkeys(one.kind for one in pending.unanswered.values())
        text = "\n".join(reply(f"why_{kind}", turn.language) for kind in kinds)
    else:
        answered = await serve(turn)
        if answered.outcome not in {"complete", "refused"}:
            return answered
        text = answered.text
    names = display_names(turn.before, turn.canvas)
    words = questions_in_words(pending.unanswered.values(), turn.language, names)
    asked = words or [phrase("waiting", turn.language)]
    return turn.result("pending", "\n\n".join([text, *asked]), pending=pending)


def _trace_failure(span: Span, failure: Exception, result: TurnResult, *, content: bool) -> None:
    span.set_attribute("error_type", type(failure).__name__)
    get_current_span().set_status(StatusCode.ERROR)
    if content:  # an exception may quote the conversation
        span.record_exception(failure)
    if result.error is not None:
        span.set_attribute("error_code", result.error.code)
