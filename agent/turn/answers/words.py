"""Answers in words: a message that answers what waits, in any language."""

from pydantic_ai import ToolApproved, ToolDenied

from agent.conversation.memory import Pending
from agent.demo.answers import asks_why
from agent.demo.replies import reply
from agent.language.intent import Meaning
from agent.language.phrases import phrase
from agent.language.replies import asks_to_continue, plain_reply
from agent.turn.act import waiting_text
from agent.turn.answers.keys import with_name_in_words
from agent.turn.answers.resume import resume
from agent.turn.commands import answer_proposals, place_proposal
from agent.turn.request import Answer
from agent.turn.result import TurnResult
from agent.turn.state import Turn


async def answer_in_words(turn: Turn, pending: Pending) -> TurnResult | None:
    """Take a message as the answer to the approvals that wait, if it is one.

    Plain words are decided without a model; the classifier reads everything else and is told only the kinds of what
    waits.

    Args:
        turn: the turn.
        pending: the suspended turn.

    Returns:
        The result; None when the message is a request of its own, whose classification the turn then has.
    """
    if not turn.text.strip() or (turn.conversation.interrupted and asks_to_continue(turn.text)):
        return turn.result("pending", waiting_text(turn, pending), pending=pending)
    if not pending.asked:
        return None  # only calls of the client's tools wait, which no message answers
    renamed = with_name_in_words(pending, turn.text)
    if renamed is not None:
        return await resume(turn, renamed, in_words=True)
    plain = plain_reply(turn.text)
    if plain is None:
        await turn.classify([one.kind for one in pending.asked.values()])
    meaning: Meaning | None = plain or turn.classification.reply or ("deny" if turn.request.replying else None)
    match meaning:
        case "approve":
            return await resume(turn, _all(pending, ToolApproved(), turn.text), in_words=not _asks_more(turn))
        case "deny":
            denied = ToolDenied() if plain else ToolDenied(turn.text)
            return await resume(turn, _all(pending, denied, turn.text), in_words=True)
        case "change":
            denied = ToolDenied(turn.text)
            return await resume(turn, _all(pending, denied, turn.text), in_words=True, wanted=turn.text)
        case "unclear":
            text = f"{phrase('unclear', turn.language)}\n\n{waiting_text(turn, pending)}"
            return turn.result("pending", text, pending=pending)
        case _:
            return None


async def decide_in_words(turn: Turn) -> TurnResult | None:
    """Take a message as the answer to the proposal that the last turn offered, if it is one.

    Returns:
        The result; None when the message is a request of its own, such as a change of the proposal.
    """
    waits = turn.conversation.proposals.open
    plain = plain_reply(turn.text)
    asks_else = not (turn.choice.is_demo and plain)  # the demo planner asks nothing else that is answered with yes
    if waits is None or (asks_else and not turn.conversation.offer_awaits_reply):
        return None
    if plain is None:
        await turn.classify(["proposal"])
    match plain or turn.classification.reply:
        case "other" if turn.choice.is_demo and asks_why(turn.text):
            return turn.result("complete", reply("why_proposal", turn.language))
        case "unclear" if turn.choice.is_demo:
            return turn.result("complete", phrase("unclear", turn.language))
        case "approve" if not _asks_more(turn):
            return await place_proposal(turn)
        case "approve":
            turn.accepts_proposal = True
            return None
        case "deny":
            turn.conversation.take_answers({waits.id: ToolDenied()})
            return await answer_proposals(turn)
        case _:
            return None


def _asks_more(turn: Turn) -> bool:
    """Whether a message that says yes also asks for a run, which the model then makes: of a proposal, it places it."""
    return turn.classified and ("run" in turn.classification.mandate.effects or turn.runs)


def _all(pending: Pending, answer: Answer, text: str) -> dict[str, Answer]:
    """The same answer to every question; calls of the client's tools are not carried out."""
    calls: dict[str, Answer] = {call: ToolDenied(text) for call in pending.unanswered if call not in pending.asked}
    return dict.fromkeys(pending.asked, answer) | calls
