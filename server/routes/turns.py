"""Turns by id: their events from any number on, live or as they were stored, and stopping one."""

from __future__ import annotations

import re
from typing import Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import Event
from agent.contract.model import ContractModel, Received
from agent.contract.requests import AGENT_HEADER, TURN_HEADER, TURN_ID
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import WholeNumber
from server.requests.query import number
from server.store.turns import LARGEST, RUNNING
from server.streams.response import TurnResponse, numbered

LAST_EVENT: Final = "last-event-id"
"""The header with which a client says what it has got."""

_ID: Final = re.compile(rf"(?:({TURN_ID.strip('^$')})\.)?([0-9]{{1,9}})")


class EventsQuery(ContractModel):
    """Asks for the events of a turn.

    Attributes:
        after: the number of the event that the client got last.
    """

    after: WholeNumber = Field(default=0, ge=0, le=LARGEST)


class StoppedTurn(Received):
    """A turn that was stopped, or had ended before.

    Attributes:
        turn_id: the turn.
        status: the kind of its last event: `complete`, `error` or `cancelled`.
    """

    turn_id: str
    status: str


@operation(
    Event,
    query=EventsQuery,
    media_type="text/event-stream",
    also={204: None},
    headers=(TURN_HEADER, AGENT_HEADER),
    takes=(LAST_EVENT,),
    errors=(410,),
)
async def events(request: Request) -> Response:
    """The events of a turn after the one that the client got last."""
    caller, turn = caller_of(request), _turn(request)
    given = last_event(request)
    if given is not None and given[0] not in (None, turn):
        fix = "Send the id of an event of this turn, or leave the header out."
        raise ApiError(422, "invalid_request", "Last-Event-ID names another turn.", fix, LAST_EVENT)
    return await following(caller, turn, number(request, "after", 0, 0, LARGEST) if given is None else given[1])


async def following(caller: Caller, turn: str, after: int) -> Response:
    """The events of a turn with higher numbers than `after`, to its end; 204 when it has ended and there are none.

    Raises:
        ApiError: 404, the caller has no such turn; 410, its events are too old to be kept.
    """
    turns = caller.state.turns
    running = turns.get(caller.id, turn)
    if running is not None:
        if running.log.has_ended and after >= running.log.last:
            return Response(status_code=204, headers={TURN_HEADER: turn})
        reader = running.join(after)
        return TurnResponse(turn, numbered(turn, turns.read(running, reader)), leave=lambda: running.leave(reader))
    found = await turns.find(caller.id, turn)
    if found is None:
        raise _unknown(turn)
    if found.is_gone:
        raise expired()
    if found.state != RUNNING and after >= found.last:
        return Response(status_code=204, headers={TURN_HEADER: turn})
    return TurnResponse(turn, numbered(turn, turns.read_stored(caller.id, turn, after)))


@operation(StoppedTurn, errors=(409,))
async def cancel(request: Request) -> Response:
    """Stop a turn, and say how it ended; one that has ended already stays as it is."""
    caller, turn = caller_of(request), _turn(request)
    running = caller.state.turns.get(caller.id, turn)
    if running is not None:
        running.stop("stopped")
        return JsonResponse({"turn_id": turn, "status": (await running.ended()).event})
    found = await caller.state.turns.find(caller.id, turn)
    if found is None:
        raise _unknown(turn)
    if found.state == RUNNING:
        found = await caller.state.turns.stop_elsewhere(caller.id, turn)
        if found is None:
            fix = "It was asked to stop it. Follow the turn, or send the request again."
            raise ApiError(409, "runs_elsewhere", "Another server takes this turn, and has not stopped it yet.", fix)
    return JsonResponse({"turn_id": turn, "status": found.state})


def last_event(request: Request) -> tuple[str | None, int] | None:
    """The turn, if it is named, and the number of the event that a client got last; None when it does not say.

    Raises:
        ApiError: 422, it is not the id of an event.
    """
    given = request.headers.get(LAST_EVENT)
    if not given:
        return None
    found = _ID.fullmatch(given)
    if found is None:
        fix = "Send the id of the last event: the turn's id, a dot and a number."
        raise ApiError(422, "invalid_request", "Last-Event-ID is not the id of an event.", fix, LAST_EVENT)
    return found[1], int(found[2])


def _turn(request: Request) -> str:
    """The turn that the path names.

    Raises:
        ApiError: 404, no turn has such an id.
    """
    turn: str = request.path_params["turn_id"]
    if re.fullmatch(TURN_ID, turn) is None:
        raise _unknown(turn)
    return turn


def expired() -> ApiError:
    """What is said of a turn whose events are gone."""
    fix = "The conversation and the flow have what came of it. WIREWRIGHT_TURN_EVENTS_KEPT says how long they stay."
    return ApiError(410, "events_expired", "The events of this turn are too old to be kept.", fix)


def _unknown(turn: str) -> ApiError:
    shown = turn if len(turn) <= 80 else f"{turn[:80]}…"
    fix = "Ask again: a turn is known for some days after its events are gone."
    return ApiError(404, "turn_not_found", f"There is no turn {shown!r}.", fix)


routes = [
    Route("/api/v1/agentic/turns/{turn_id}/events", events, methods=["GET"]),
    Route("/api/v1/agentic/turns/{turn_id}/cancel", cancel, methods=["POST"]),
]
