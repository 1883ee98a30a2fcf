"""The metrics of this process, for Prometheus, and what the page measures, which is counted among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.client_metrics import (
    CLIENT_METRICS_PATH,
    ApplyDuration,
    BuildTasks,
    ClientCount,
    ClientEvent,
    ClientMetric,
    ClientMetricsRequest,
    InputRecalled,
    SkipAllSample,
    SkipAllToggled,
)
from agent.contract.model import Received
from runtime.telemetry import log_event
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.state import server_state
from server.telemetry.metrics import CONTENT_TYPE, Metrics

BODY_LIMIT: Final = 65_536
"""Bytes that a report may have."""

COUNTED: Final[Mapping[str, str]] = {
    "assistant_flow_proposal_continue_total": "flow_builder.proposal.continued",
    "assistant_flow_proposal_dismiss_total": "flow_builder.proposal.dismissed",
    "assistant_plan_reset_total": "assistant.plan.reset",
    "assistant_skip_all_toggle_total": "assistant.skip_all.toggles",
    "assistant_skip_all_auto_approve_total": "assistant.skip_all.auto_approved",
    "assistant_input_history_recall_total": "assistant.input_history.recalls",
}
"""The log event that each counter of the page becomes; the metrics are counted from these events."""


class Accepted(Received):
    """What was counted.

    Attributes:
        accepted: how many metrics and events.
    """

    accepted: int


@operation(Accepted, body=ClientMetricsRequest, status=202)
async def client_metrics(request: Request) -> Response:
    """Take what the page has measured."""
    caller = caller_of(request)
    document = await read_object(request, min(BODY_LIMIT, caller.settings.body_limit))
    report = validated(ClientMetricsRequest, document)
    items = [*report.metrics, *report.events]
    seconds = server_state(request).client_reports.take(caller.id, len(items))
    if seconds:
        raise ApiError(
            429,
            "too_many_metrics",
            "The page reports too much.",
            f"Wait {seconds} s, and report less often.",
            headers={"Retry-After": str(seconds)},
        )
    for item in items:
        log_item(item, caller.id)
    return JsonResponse({"accepted": len(items)}, 202)


def log_item(item: ClientMetric | ClientEvent, user: str) -> None:
    """Log one metric or event of the page of a user."""
    match item:
        case ApplyDuration():
            log_event("assistant.flow.applied", duration_ms=item.value, node_count=item.nodes)
        case BuildTasks():
            log_event("assistant.build_tasks.listed", tasks=item.value)
        case SkipAllSample():
            log_event("assistant.skip_all.sampled", user_id=user, enabled=bool(item.value))
        case ClientCount():
            log_event(COUNTED[item.name], count=item.value)
        case SkipAllToggled():
            log_event(item.name, session_id=item.session_id, enabled=item.enabled)
        case InputRecalled():
            log_event(item.name, direction=item.direction, pointer=item.pointer)
        case _:
            assert_never(item)


@operation(str, media_type="text/plain")
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


routes = [
    Route("/metrics", metrics, methods=["GET"]),
    Route(CLIENT_METRICS_PATH, client_metrics, methods=["POST"]),
]
