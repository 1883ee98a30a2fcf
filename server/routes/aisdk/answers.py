"""The answers of a request, compared with what waits in the conversation: only what waits can be answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agent.contract.requests import Decision
from server.access.caller import Caller
from server.errors import ApiError
from server.requests.body import validated
from server.requests.page import clean_text
from server.routes.aisdk.messages import ChatRequest, Outcomes


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a request answers.

    Attributes:
        approvals: the decisions, by the ids of what waits.
        results: what calls of the client's own tools have given, by their ids.
    """

    approvals: dict[str, Decision] = field(default_factory=dict[str, Decision])
    results: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def approved(self) -> dict[str, bool]:
        """Whether each of them is a yes."""
        return {call: one.decision == "approve" for call, one in self.approvals.items()}

    @property
    def changed(self) -> dict[str, dict[str, Any]]:
        """The arguments that the user has changed."""
        return {call: one.args for call, one in self.approvals.items() if one.args}


async def answers_of(caller: Caller, asked: ChatRequest, outcomes: Outcomes, *, is_continued: bool) -> Answers:
    """The answers of a request.

    Args:
        caller: who sends it.
        asked: the request.
        outcomes: what became of the calls of the assistant's message, as the client says.
        is_continued: whether the request has answers alone, and no message of the user.

    Raises:
        ApiError: 409, an answer is to nothing that waits here, or nothing waits; 422, one is malformed.
    """
    if not (is_continued or outcomes.decided or outcomes.outputs or asked.tool_arguments):
        return Answers()
    known = asked.id == clean_text(asked.id)
    state = await caller.assistant.memory.load(caller.id, asked.id) if known else None
    pending = None if state is None else state.pending
    questions = {} if pending is None else pending.unanswered
    calls = {call for call, one in questions.items() if one.kind == "tool"}
    waiting = questions.keys() - calls
    waiting |= set[str]() if state is None else {offer.id for offer in state.offers.kept}
    answered = set[str]() if pending is None else set(pending.answers)
    given = {call: one for call, one in outcomes.decided.items() if call in waiting}
    results = {call: _result(part) for call, part in outcomes.outputs.items() if call in calls}
    unknown = [call for call in outcomes.decided if call not in waiting | answered]
    unknown += [call for call in asked.tool_arguments if call not in given]
    if is_continued and unknown:
        fix = "Send the user's answers to what the last message asks, each once."
        raise ApiError(409, "unknown_approval", f"Nothing waits here as {unknown[0][:100]!r}.", fix, "$.messages")
    if is_continued and not (given or results):
        message = "Nothing of this waits in the conversation."
        raise ApiError(409, "nothing_pending", message, "Send a message of the user.", "$.messages")
    return Answers(approvals={call: _decision(call, one, asked) for call, one in given.items()}, results=results)


def _result(part: dict[str, Any]) -> JsonValue:
    """What a call of a tool of the client has given."""
    return part.get("output") if part.get("state") == "output-available" else {"error": part.get("errorText")}


def _decision(call: str, approval: dict[str, Any], asked: ChatRequest) -> Decision:
    approved = approval.get("approved")
    if not isinstance(approved, bool):
        fix = "Send approved: true or false."
        raise ApiError(422, "invalid_request", f"The answer to {call[:100]!r} is no decision.", fix, "$.messages")
    document = {
        "decision": "approve" if approved else "deny",
        "reason": approval.get("reason"),
        "args": asked.tool_arguments.get(call) if approved else None,
    }
    return validated(Decision, document)
