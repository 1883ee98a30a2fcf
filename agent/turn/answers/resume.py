"""Resuming a suspended turn after its plan or edits were approved or denied."""

from pydantic_ai import ToolDenied

from agent.conversation.memory import Pending
from agent.demo.answers import run_of
from agent.language.intent import Classification
from agent.toolsets.client import merged
from agent.turn.act import act, open_workbench, waiting_text
from agent.turn.answers.keys import go_on_with_keys
from agent.turn.request import Answer
from agent.turn.result import TurnResult
from agent.turn.state import Turn
from tools.effects import InstallEffect, PlanEffect


async def resume(turn: Turn, given: dict[str, Answer], *, in_words: bool = False, wanted: str = "") -> TurnResult:
    """Record the user's answers; the agent continues once every approval has one.

    Args:
        turn: the turn.
        given: the answers, by tool call id.
        in_words: whether the message itself was the answer.
        wanted: the words in which the user asked for what is denied to be done differently.

    Raises:
        AssistantUnavailable: nothing is pending, or an answer is to none of the pending approvals.
    """
    beside = "" if in_words else turn.text
    pending, answers = await turn.conversation.answer(given, beside, turn.request.flow, wanted=wanted)
    run = run_of(turn.text) if turn.choice.is_demo and turn.classification.reply == "approve" else None
    turn.text, turn.original_text = turn.text or pending.text, pending.text + (run or "")
    turn.classification = Classification(
        intent=pending.intent,
        english=pending.english,
        language=pending.language,
        mandate=pending.mandate | turn.classification.mandate,
    )
    turn.wanted = wanted
    turn.client_tools = merged(pending.tools, turn.request.tools)
    turn.before, turn.earlier = turn.request.flow or pending.canvas, pending.record
    turn.denied_plans = [
        PlanEffect.of(approval.markdown, "denied")
        for call, approval in pending.approvals.items()
        if approval.kind == "plan" and isinstance(pending.answers.get(call), ToolDenied)
    ]
    if answers is None:
        return turn.result("pending", waiting_text(turn, pending), pending=pending)
    if pending.keys:
        return await go_on_with_keys(turn, pending)
    bench = await open_workbench(turn, pending)
    bench.installs += _denied_installs(pending)
    if wanted:
        edits = [edit for one in pending.approvals.values() if one.kind == "edit" for edit in one.edits]
        bench.wanted = {(edit.node, edit.field): wanted for edit in edits}
    return await act(
        turn,
        bench,
        None,
        history=pending.messages,
        answers=answers,
        must_act=bool(wanted) or not turn.conversation.denied,
    )


def _denied_installs(pending: Pending) -> list[InstallEffect]:
    answers = ((approval, pending.answers.get(call)) for call, approval in pending.approvals.items())
    return [
        InstallEffect(bundle=approval.bundle, status="denied")
        for approval, answer in answers
        if approval.kind == "install" and isinstance(answer, ToolDenied)
    ]
