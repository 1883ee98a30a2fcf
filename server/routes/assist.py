"""The assistant over HTTP: a turn as a stream or as one reply, and its configuration."""

from __future__ import annotations

from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import CancelledEvent, CompleteData, CompleteEvent, ErrorEvent, Event
from agent.contract.model import Received, optional
from agent.contract.requests import AGENT_HEADER, STREAM_PATH, TURN_HEADER, AssistRequest, ResetRequest
from agent.errors import ModelChoiceError
from agent.models.providers import DEMO, PROVIDERS, available
from agent.turn.result import TurnError
from flows.document import Json, JsonObject
from flows.json_values import as_object
from server.access.caller import Caller, caller_of
from server.errors import ApiError, turn_failed
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.disconnect import stops, while_connected
from server.requests.operation import operation
from server.routes.turns import LAST_EVENT, following, last_event
from server.state import server_state
from server.streams.response import TurnResponse, numbered
from server.turns import started

_ERRORS: Final = (400, 404, 409, 413, 422, 429)
"""The statuses of requests that begin no turn."""


class ResetReply(Received):
    """What was forgotten.

    Attributes:
        components_cleared: how many components of the user were removed.
        session_id: the conversation; null if none was named.
    """

    status: Literal["ok"]
    components_cleared: int
    session_id: str | None


class ConfiguredModel(Received):
    """A model of a provider."""

    name: str
    display_name: str


class ConfiguredProvider(Received):
    """A provider of models.

    Attributes:
        name: what `provider` of a turn names.
        display_name: the name to show.
        configured: whether it can be used.
        variable: the variable of its key; null if it needs none.
        default_model: the model that it takes when none is named; null if there is no usual one.
        models: its models, newest first.
    """

    name: str
    display_name: str
    configured: bool
    variable: str | None
    default_model: str | None
    models: list[ConfiguredModel]


class ConfigProblem(Received):
    """Why the default cannot be used."""

    code: str
    message: str
    fix: str


class ConfigReply(Received):
    """What is configured to take turns.

    Attributes:
        configured: whether any provider is.
        configured_providers: the names of those that are.
        providers: all of them.
        demo: whether the demo planner takes turns that name no provider.
        default_provider: who takes turns that name no provider; null if nobody can.
        default_model: the model of these turns; null if nobody can.
        message: what the user should know about that.
        error: why nobody can.
    """

    configured: bool
    configured_providers: list[str]
    providers: list[ConfiguredProvider]
    demo: bool
    default_provider: str | None
    default_model: str | None
    message: str | None = optional()
    error: ConfigProblem | None = optional()


@operation(
    Event,
    body=AssistRequest,
    media_type="text/event-stream",
    also={204: None},
    headers=(TURN_HEADER, AGENT_HEADER),
    takes=(LAST_EVENT,),
    errors=(*_ERRORS, 410),
)
async def stream(request: Request) -> Response:
    """A turn as server-sent events; with the id of an event, the rest of its turn."""
    given = last_event(request)
    caller = caller_of(request)
    if given is not None and given[0] is not None:
        return await following(caller, given[0], given[1])
    document = as_object(await read_object(request, caller.settings.flow_body_limit))
    running, is_numbered = await started(caller, document)
    reader = running.join(as_client=True)
    events = caller.state.turns.read(running, reader)
    return TurnResponse(
        running.id, numbered(running.id, events, is_numbered=is_numbered), leave=lambda: running.leave(reader)
    )


@operation(CompleteData, body=AssistRequest, headers=(TURN_HEADER,), errors=(*_ERRORS, 500, 502, 504))
async def assist(request: Request) -> Response:
    """A turn as one reply, for clients that do not stream."""
    caller = caller_of(request)
    running, _ = await started(caller, as_object(await read_object(request, caller.settings.flow_body_limit)))
    reader = running.join(as_client=True)
    try:
        ended = await while_connected(request, caller.stopping, running.ended())
    finally:
        running.leave(reader)
    match ended:
        case CompleteEvent():
            return JsonResponse(ended.data, headers={TURN_HEADER: running.id})
        case ErrorEvent():
            failed = TurnError(code=ended.code, message=ended.message, fix=ended.fix)
            raise turn_failed(failed, server_state(request).turn_slots.seconds_left(caller.id))
        case CancelledEvent() if caller.stopping.is_set():
            raise stops()
        case CancelledEvent():
            raise ApiError(503, "cancelled", ended.message, "Try again.")


@operation(ResetReply, body=ResetRequest, query=ResetRequest, body_optional=True)
async def reset(request: Request) -> Response:
    """Forget a conversation and its user's components, or it alone, or its plan. Nothing to forget is not an error."""
    caller = caller_of(request)
    body = await read_object(request, caller.settings.body_limit, optional=True)
    reset_request = validated(ResetRequest, {**dict(request.query_params), **body})
    cleared = 0
    if reset_request.what == "all":
        used = (await caller.flows()).components_used
        cleared = await caller.assistant.reset(caller.id, reset_request.session_id, used)
    elif reset_request.session_id is not None and reset_request.what == "session":
        await caller.assistant.forget(caller.id, reset_request.session_id)
    elif reset_request.session_id is not None:
        await caller.assistant.drop_plan(caller.id, reset_request.session_id)
    if reset_request.what != "plan" and reset_request.session_id is not None:
        await caller.state.turns.forget(caller.id, reset_request.session_id)
    return JsonResponse({"status": "ok", "components_cleared": cleared, "session_id": reset_request.session_id})


@operation(ConfigReply)
async def check_config(request: Request) -> Response:
    """Which providers are available, and the default for a request that names none."""
    return JsonResponse(await config(caller_of(request)))


async def config(caller: Caller) -> JsonObject:
    """What is configured, in the seeds' shape; `demo` is true when only the demo planner serves by default."""
    ready = {info.name for info in available((await caller.keys.read()).environment())}
    names: list[Json] = [name for name in PROVIDERS if name in ready]
    facts: JsonObject = {
        "configured": bool(ready),
        "configured_providers": names,
        "providers": [_provider(name, configured=name in ready) for name in PROVIDERS],
    }
    try:
        default = await caller.assistant.choose(None, caller.id)
    except ModelChoiceError as problem:
        error: JsonObject = {"code": problem.error.code, "message": problem.error.message, "fix": problem.error.fix}
        return {**facts, "demo": False, "default_provider": None, "default_model": None, "error": error}
    named: JsonObject = {
        "demo": default.is_demo,
        "default_provider": default.provider,
        "default_model": default.names[0] if default.names else (DEMO if default.is_demo else None),
    }
    if not default.is_demo:
        return {**facts, **named}
    message = "The demo planner serves: rules, not a language model. Set a provider's API key for more."
    return {**facts, **named, "message": message}


def _provider(name: str, *, configured: bool) -> JsonObject:
    info = PROVIDERS[name]
    return {
        "name": name,
        "display_name": info.title,
        "configured": configured,
        "variable": info.variable,
        "default_model": info.models[0] if info.models else None,
        "models": [{"name": model, "display_name": model} for model in info.models],
    }


routes = [
    Route(STREAM_PATH, stream, methods=["POST"]),
    Route("/api/v1/agentic/assist", assist, methods=["POST"]),
    Route("/api/v1/agentic/sessions/reset", reset, methods=["POST"]),
    Route("/api/v1/agentic/check-config", check_config, methods=["GET"]),
]
