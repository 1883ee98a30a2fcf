"""The metrics of this process, for Prometheus."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server.state import server_state
from server.telemetry.metrics import CONTENT_TYPE, Metrics


async def metrics(request: Request) -> Response:
    """All metrics since the server started: counts and durations, never content."""
    return Response(server_state(request).metrics.text(), media_type=CONTENT_TYPE)


def metrics_app(metrics: Metrics) -> Starlette:
    """The application of the port for metrics: they alone, without a token.

    Args:
        metrics: what is served.
    """

    async def shown(_: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return Starlette(routes=[Route("/metrics", shown, methods=["GET"])])


routes = [Route("/metrics", metrics, methods=["GET"])]
