"""What waits for the user's decision, in all conversations."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Received
from agent.turn.answers.waiting import WaitingConversation, waiting_approvals, withdraw
from flows.document import Flow
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.store.flows import FlowNotStored

APPROVALS = "/api/v1/agentic/approvals"


class WaitingApprovals(Received):
    """What waits for the user, the longest first."""

    conversations: list[WaitingConversation]


class Withdrawn(Received):
    """Questions that were taken back.

    Attributes:
        session_id: the conversation.
        withdrawn: how many there were.
    """

    session_id: str
    withdrawn: int


@operation(WaitingApprovals)
async def waiting(request: Request) -> Response:
    """The questions that wait for the user's answer, in all conversations."""
    caller = caller_of(request)

    async def flow(name: str) -> Flow | None:
        return await _flow(caller, name)

    found = await waiting_approvals(caller.assistant.memory, caller.id, caller.settings.approvals_kept, flow)
    return JsonResponse(WaitingApprovals(conversations=found))


@operation(Withdrawn, errors=(409,))
async def take_back(request: Request) -> Response:
    """Take back the questions that wait in a conversation: nothing of them is done, and nobody is asked again."""
    caller, session = caller_of(request), str(request.path_params["session"])
    busy = caller.assistant.queue.busy(caller.id, session)
    if busy or await caller.state.turns.runs_elsewhere(caller.id, session):
        fix = "Wait until it has ended, or stop it."
        raise ApiError(409, "turn_runs", "A turn of this conversation goes on.", fix)
    count = await withdraw(caller.assistant.memory, caller.id, session)
    if not count:
        message = f"Nothing waits for an answer in the conversation {session[:80]!r}."
        raise ApiError(404, "nothing_pending", message, f"GET {APPROVALS} lists what waits.")
    return JsonResponse({"session_id": session, "withdrawn": count})


async def _flow(caller: Caller, flow_id: str) -> Flow | None:
    """The stored flow as it is now; None if it was removed."""
    try:
        return (await (await caller.flows()).get(flow_id)).flow
    except FlowNotStored:
        return None


routes = [
    Route(APPROVALS, waiting, methods=["GET"]),
    Route(f"{APPROVALS}/{{session:path}}/withdraw", take_back, methods=["POST"]),
]
