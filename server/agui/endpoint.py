"""AG-UI: a run of the assistant for the clients of that protocol."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from agent.contract.requests import AGENT_HEADER, TURN_HEADER
from flows.json_values import as_object
from server.access.caller import Caller, caller_of
from server.agui.assist import PLACES, assist_document
from server.agui.run_input import RunInput
from server.errors import ApiError
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.places import named_as
from server.routes.turns import expired
from server.streams.agui import AguiEvent, AguiTranslation
from server.streams.response import TurnResponse
from server.streams.translation import translated
from server.turns import started


@operation(
    AguiEvent,
    body=RunInput,
    media_type="text/event-stream",
    headers=(TURN_HEADER, AGENT_HEADER),
    errors=(400, 404, 409, 410, 413, 422, 429),
)
async def run(request: Request) -> Response:
    """Run the assistant for an AG-UI client; a run whose id it has sent before is followed from its first event."""
    caller = caller_of(request)
    given = validated(RunInput, as_object(await read_object(request, caller.settings.body_limit, mends_text=True)))
    answered = {message.tool_call_id for _, message in given.new if message.role == "tool"}
    translation = AguiTranslation(
        given.thread_id,
        given.run_id,
        version=given.protocol_version,
        parent=given.parent_run_id,
        answered={call for call in answered if call},
        client_tools={tool.name for tool in given.tools},
    )
    return await _following(caller, given, translation) or await _starting(caller, given, translation)


async def _starting(caller: Caller, given: RunInput, translation: AguiTranslation) -> Response:
    pending = await caller.assistant.pending(caller.id, given.thread_id)
    with named_as(PLACES):
        running, _ = await started(caller, assist_document(given, pending))
    reader = running.join(as_client=True)
    frames = translated(caller.state.turns.read(running, reader), translation)
    return TurnResponse(running.id, frames, leave=lambda: running.leave(reader))


async def _following(caller: Caller, given: RunInput, translation: AguiTranslation) -> Response | None:
    """The run from its first event, when there is one of this id."""
    turns, turn = caller.state.turns, given.turn_id
    running = turns.get(caller.id, turn)
    if running is not None:
        if running.log.session != given.thread_id:
            fix = "Send the thread of the run, or a new runId."
            raise ApiError(409, "other_thread", "The run of this id belongs to another thread.", fix, "$.threadId")
        reader = running.join()
        frames = translated(turns.read(running, reader), translation)
        return TurnResponse(turn, frames, leave=lambda: running.leave(reader))
    found = await turns.find(caller.id, turn)
    if found is None:
        return None
    if found.is_gone:
        raise expired()
    return TurnResponse(turn, translated(turns.read_stored(caller.id, turn, 0), translation))
