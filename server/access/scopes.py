"""Which scope each route needs. A route that is missing here is refused when the application is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.contract.client_metrics import CLIENT_METRICS_PATH
from agent.contract.events import FILES_PATH
from agent.contract.requests import STREAM_PATH
from runtime.accounts.scopes import Scope as TokenScope
from server.access.auth import HOOKS_FOLDER, SIGN_IN_PATH
from server.errors import ApiError
from server.idempotency.check import IdempotencyCheck
from server.middleware.request_id import ROUTE

USERS_PATH: Final = "/api/v1/users"
HOOK_PATH: Final = f"{HOOKS_FOLDER}{{hook_id}}"

READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


@dataclass(frozen=True)
class Needs:
    """The scopes that a route needs.

    Attributes:
        read: for the methods in `READS`; None for none.
        change: for every other method; None for none.
    """

    read: TokenScope | None = "read"
    change: TokenScope | None = "build"


NEEDS: Final[Mapping[str, Needs]] = {
    STREAM_PATH: Needs(),
    "/api/v1/agentic/assist": Needs(),
    "/api/chat": Needs(),
    "/api/chat/{chat:path}/stream": Needs(),
    "/ag-ui": Needs(),
    "/api/v1/agentic/turns/{turn_id}/events": Needs(),
    "/api/v1/agentic/turns/{turn_id}/cancel": Needs(),
    "/api/v1/agentic/approvals": Needs(),
    "/api/v1/agentic/approvals/{session:path}/withdraw": Needs(),
    "/api/v1/agentic/sessions/reset": Needs(),
    "/api/v1/agentic/check-config": Needs(),
    CLIENT_METRICS_PATH: Needs(change="read"),
    "/api/v1/flows": Needs(),
    "/api/v1/flows/{flow_id}": Needs(),
    "/api/v1/flows/import": Needs(),
    "/api/v1/flows/{flow_id}/duplicate": Needs(),
    "/api/v1/flows/{flow_id}/export": Needs(),
    "/api/v1/flows/{flow_id}/update-components": Needs(),
    "/api/v1/flows/{flow_id}/revisions": Needs(),
    "/api/v1/flows/{flow_id}/revisions/{version}": Needs(),
    "/api/v1/flows/{flow_id}/revisions/{version}/restore": Needs(),
    "/api/v1/flows/{flow_id}/run": Needs(change="run"),
    "/api/v1/flows/{flow_id}/sessions": Needs(change="run"),
    "/api/v1/flows/{flow_id}/sessions/{session:path}": Needs(change="run"),
    "/api/v1/flows/{flow_id}/needs": Needs(),
    "/api/v1/flows/{flow_id}/tests": Needs(),
    "/api/v1/flows/{flow_id}/tests/run": Needs(change="run"),
    "/api/v1/runs": Needs(change="run"),
    "/api/v1/runs/{run_id}": Needs(change="run"),
    "/api/v1/runs/{run_id}/cancel": Needs(change="run"),
    "/api/v1/runs/{run_id}/events": Needs(change="run"),
    "/api/v1/jobs": Needs(change="run"),
    "/api/v1/jobs/{job_id}": Needs(change="run"),
    "/api/v1/jobs/{job_id}/cancel": Needs(change="run"),
    "/api/v1/jobs/{job_id}/retry": Needs(change="run"),
    "/api/v1/flows/{flow_id}/batch": Needs(change="run"),
    "/api/v1/batches": Needs(change="run"),
    "/api/v1/batches/{batch_id}": Needs(change="run"),
    "/api/v1/batches/{batch_id}/cancel": Needs(change="run"),
    "/api/v1/batches/{batch_id}/retry": Needs(change="run"),
    "/api/v1/batches/{batch_id}/results": Needs(change="run"),
    "/api/v1/flows/{flow_id}/schedules": Needs(change="run"),
    "/api/v1/schedules": Needs(change="run"),
    "/api/v1/schedules/{schedule_id}": Needs(change="run"),
    HOOK_PATH: Needs(read=None, change=None),
    "/api/v1/flows/{flow_id}/revisions/{version}/diff": Needs(),
    "/api/v1/conversations": Needs(),
    "/api/v1/conversations/{session:path}": Needs(),
    "/api/v1/conversations/{session:path}/rewind": Needs(),
    "/api/v1/conversations/{session:path}/state": Needs(),
    FILES_PATH: Needs(),
    f"{FILES_PATH}/{{path:path}}": Needs(),
    "/api/v1/components": Needs(),
    "/api/v1/components/configure": Needs(change="read"),  # it stores nothing
    "/api/v1/components/{type:path}": Needs(),
    "/api/v1/templates": Needs(),
    "/api/v1/templates/{name}": Needs(),
    "/api/v1/templates/{name}/flows": Needs(),
    "/api/v1/bundles": Needs(change="admin"),
    "/api/v1/bundles/{name}": Needs(change="admin"),
    "/api/v1/bundles/{name}/install": Needs(change="admin"),
    "/api/v1/evaluations": Needs(),
    "/api/v1/evaluations/{evaluation:path}": Needs(),
    "/api/v1/evaluations/{evaluation:path}/entries": Needs(),
    "/api/v1/providers": Needs(),
    "/api/v1/providers/{name}": Needs(),
    "/api/v1/langflow": Needs(),
    "/api/v1/langflow/{name}": Needs(),
    "/api/v1/langflow/{name}/flows": Needs(),
    "/api/v1/flows/{flow_id}/langflow": Needs(),
    "/api/v1/flows/{flow_id}/langflow/read": Needs(),
    "/api/v1/flows/{flow_id}/langflow/send": Needs(),
    "/api/v1/models": Needs(),
    "/api/v1/models/test": Needs(),
    USERS_PATH: Needs(read="admin", change="admin"),
    f"{USERS_PATH}/{{user}}/revoke": Needs(read="admin", change="admin"),
    f"{USERS_PATH}/{{user}}/rotate": Needs(read="admin", change="admin"),
    "/api/v1/me": Needs(),
    "/api/v1/variables": Needs(),
    "/api/v1/variables/{name}": Needs(),
    "/api/v1/usage": Needs(),
    "/mcp": Needs(change="read"),  # each tool needs its own scope
    "/mcp/{group}": Needs(change="read"),
    "/metrics": Needs(read="admin", change="admin"),
    "/docs": Needs(read=None),
    "/openapi.json": Needs(read=None),
    "/": Needs(read=None),
    "/assets/{name}": Needs(read=None),
    "/icon.svg": Needs(read=None),
    "/healthz": Needs(read=None),
    "/readyz": Needs(read=None),
    SIGN_IN_PATH: Needs(read=None, change=None),
}
"""By the path of the route."""

UNREPEATED: Final = frozenset({SIGN_IN_PATH, HOOK_PATH, "/mcp", "/mcp/{group}"})
"""Paths that take no key: what makes a session and a protocol of its own make nothing twice, and calls of webhooks,
which have no user, are named by their `id`."""


class ScopeCheck:
    """ASGI wrapper of one route that refuses users whose token lacks a scope.

    Args:
        app: the route's application.
        needs: the scopes that it needs.
        path: the route's path, noted for the log of requests.
    """

    def __init__(self, app: ASGIApp, needs: Needs, path: str) -> None:
        self._app = app
        self._needs = needs
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            ApiError: 403, the token lacks the scope.
        """
        scope[ROUTE] = self._path
        needed = self._needs.read if scope["method"] in READS else self._needs.change
        if needed is not None and needed not in Request(scope).user.scopes:
            raise ApiError(
                403,
                "missing_scope",
                f"This needs the scope {needed!r}, which the token does not have.",
                "Ask who runs this server: `wirewright users list` shows the scopes of each user.",
            )
        await self._app(scope, receive, send)


def checked(routes: Iterable[Route]) -> list[Route]:
    """Routes that check scopes, and that answer a request whose `Idempotency-Key` is repeated as they did before.

    Raises:
        LookupError: a route is missing in `NEEDS`.
    """
    found: list[Route] = []
    for route in routes:
        if route.path not in NEEDS:
            raise LookupError(f"{route.path} is missing in NEEDS.")
        wrappers = [Middleware(ScopeCheck, NEEDS[route.path], route.path)]
        if route.path not in UNREPEATED:
            wrappers.append(Middleware(IdempotencyCheck))
        found.append(Route(route.path, route.endpoint, methods=route.methods, name=route.name, middleware=wrappers))
    return found
