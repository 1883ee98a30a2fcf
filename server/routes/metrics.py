"""The metrics of this process, for Prometheus."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.state import server_state
from server.telemetry.metrics import CONTENT_TYPE


async def metrics(request: Request) -> Response:
    """All metrics since the server started: counts and durations, never content."""
    return Response(server_state(request).metrics.text(), media_type=CONTENT_TYPE)


routes = [Route("/metrics", metrics, methods=["GET"])]
