"""The description of the API: as OpenAPI for programs, and as a page for people. It is the same on every server."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from runtime.install.release import release
from server.json_response import json_bytes
from server.requests.operation import operation


@operation(dict[str, Any])
async def openapi(request: Request) -> Response:
    """The API as OpenAPI 3.1."""
    document, _ = await _described(request.app)
    return Response(document, media_type="application/json")


@operation(str, media_type="text/html")
async def reference(request: Request) -> Response:
    """The API as a page."""
    _, page = await _described(request.app)
    return HTMLResponse(page)


async def _described(app: Starlette) -> tuple[bytes, bytes]:
    """The document and the page of an application, made when they are first asked for."""
    made: asyncio.Task[tuple[bytes, bytes]] | None = getattr(app.state, "description", None)
    if made is None:
        made = app.state.description = asyncio.create_task(asyncio.to_thread(_made, app))
    return await asyncio.shield(made)


def _made(app: Starlette) -> tuple[bytes, bytes]:
    from server.openapi.document import openapi as described
    from server.openapi.page import page

    document = described((route for route in app.routes if isinstance(route, Route)), release())
    return json_bytes(document), page(document).encode()


routes = [
    Route("/openapi.json", openapi, methods=["GET"]),
    Route("/docs", reference, methods=["GET"]),
]
