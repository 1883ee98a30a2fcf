"""The figures of this process, for Prometheus."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.state import server_state
from server.telemetry.metrics import CONTENT_TYPE


async def metrics(request: Request) -> Response:
    """All figures since the server was started; they say how much and how long, never what."""
    return Response(server_state(request).metrics.text(), media_type=CONTENT_TYPE)


routes = [Route("/metrics", metrics, methods=["GET"])]
