"""The assistant over HTTP: a turn as a stream or as one reply, and its configuration."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import metadata

from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.events import CancelledEvent, CompleteEvent, ErrorEvent
from agent.contract.requests import AGENT_HEADER, STREAM_PATH, ResetRequest
from agent.errors import ModelChoiceError
from agent.models.providers import DEMO, PROVIDERS
from agent.turn.result import TurnError
from flows.document import Json, JsonObject
from flows.json_values import as_object
from server.access.caller import Caller, caller_of
from server.errors import ApiError, turn_failed
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.disconnect import last, while_connected
from server.streams.sse import frame
from server.turns import AssistTurn

PING_SECONDS = 15
"""How often a silent stream sends a ping."""

GRACE_SECONDS = 3
"""How long open streams may take to end when the server stops."""


async def stream(request: Request) -> Response:
    """A turn as server-sent events."""
    turn = await _turn(request)
    return EventSourceResponse(
        _frames(turn),
        sep="\n",
        ping=PING_SECONDS,
        headers={"Cache-Control": "no-cache", AGENT_HEADER: f"wirewright/{metadata.version('wirewright')}"},
        shutdown_grace_period=GRACE_SECONDS,
    )


async def assist(request: Request) -> Response:
    """A turn as one reply, for clients that do not stream."""
    turn = await _turn(request)
    ended = await while_connected(request, caller_of(request).stopping, last(turn.events()))
    match ended:
        case CompleteEvent():
            return JsonResponse(ended.data)
        case ErrorEvent():
            raise turn_failed(TurnError(code=ended.code, message=ended.message, fix=ended.fix))
        case CancelledEvent():
            raise ApiError(503, "cancelled", ended.message, "Try again.")
        case _:
            raise LookupError("The turn ended without a final event.")


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
    return JsonResponse({"status": "ok", "components_cleared": cleared, "session_id": reset_request.session_id})


async def check_config(request: Request) -> Response:
    """Which providers are available, and the default for a request that names none."""
    return JsonResponse(config(caller_of(request)))


def config(caller: Caller) -> JsonObject:
    """What is configured, in the seeds' shape; `demo` is true when only the demo planner serves by default."""
    ready = {info.name for info in caller.assistant.providers(caller.id)}
    names: list[Json] = [name for name in PROVIDERS if name in ready]
    facts: JsonObject = {
        "configured": bool(ready),
        "configured_providers": names,
        "providers": [_provider(name, configured=name in ready) for name in PROVIDERS],
    }
    try:
        default = caller.assistant.choose(None, caller.id)
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


async def _turn(request: Request) -> AssistTurn:
    caller = caller_of(request)
    return await AssistTurn.of(caller, as_object(await read_object(request, caller.settings.body_limit)))


async def _frames(turn: AssistTurn) -> AsyncGenerator[bytes]:
    async with aclosing(turn.events()) as events:
        async for event in events:
            yield frame(event)


routes = [
    Route(STREAM_PATH, stream, methods=["POST"]),
    Route("/api/v1/agentic/assist", assist, methods=["POST"]),
    Route("/api/v1/agentic/sessions/reset", reset, methods=["POST"]),
    Route("/api/v1/agentic/check-config", check_config, methods=["GET"]),
]
