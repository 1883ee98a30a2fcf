"""An ASGI application that serves a PydanticAI agent to AG-UI clients, and the endpoint alone for another one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

from pydantic_ai.agent import AbstractAgent
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from flows.json_values import as_object
from server.agui.adapter import AguiAdapter
from server.agui.behaviour import AguiConfig
from server.agui.run_input import RunInput
from server.error_body import error_json
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated

LOOPBACK: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
"""The origins whose pages may use an application when none are named."""

NDJSON: Final = "application/x-ndjson"
BODY_BYTES: Final = 10 * 1_024 * 1_024
"""How large a request may be."""

ENCODING_ERROR: Final = {
    "type": "RUN_ERROR",
    "message": "An event of the run cannot be written as JSON.",
    "code": "ENCODING_ERROR",
}


def create_agui_app(
    agent: AbstractAgent[Any, Any],
    path: str = "/",
    *,
    origins: Sequence[str] | None = None,
    config: AguiConfig | None = None,
) -> Starlette:
    """An application that serves an agent.

    Args:
        agent: the agent.
        path: where.
        origins: the origins whose pages may use it; those of this machine when missing.
        config: what is done beside the agent's tools.
    """
    app = Starlette()
    allowed: dict[str, Any] = {"allow_origin_regex": LOOPBACK} if origins is None else {"allow_origins": [*origins]}
    app.add_middleware(CORSMiddleware, allow_methods=["POST"], allow_headers=["*"], **allowed)
    add_agui_endpoint(app, agent, path, config=config)
    return app


def add_agui_endpoint(
    app: Starlette, agent: AbstractAgent[Any, Any], path: str, *, config: AguiConfig | None = None
) -> None:
    """Serve an agent in an application, of Starlette or FastAPI; who may use it is the application's to decide.

    Args:
        app: the application.
        agent: the agent.
        path: where.
        config: what is done beside the agent's tools.
    """
    adapter = AguiAdapter(agent, config or AguiConfig())

    async def endpoint(request: Request) -> Response:
        try:
            run = validated(RunInput, as_object(await read_object(request, BODY_BYTES, mends_text=True)))
        except ApiError as refused:
            body = error_json(refused.code, refused.message, refused.fix, refused.where)
            return JsonResponse(body, status_code=refused.status)
        if NDJSON in request.headers.get("accept", ""):
            return StreamingResponse(_encoded(adapter.run(run), "", "\n"), media_type=NDJSON)
        return EventSourceResponse(_encoded(adapter.run(run), "data: ", "\n\n"), sep="\n")

    app.router.routes.append(Route(path, endpoint, methods=["POST"]))


async def _encoded(events: AsyncGenerator[dict[str, Any]], before: str, after: str) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        async for event in events:
            try:
                line = json.dumps(event, ensure_ascii=True, allow_nan=False)
            except (TypeError, ValueError):
                yield f"{before}{json.dumps(ENCODING_ERROR)}{after}".encode()
                return
            yield f"{before}{line}{after}".encode()
