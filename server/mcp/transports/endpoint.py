"""MCP over HTTP: both servers in one, or the one for the canvas or for the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.access.caller import caller_of
from server.errors import ApiError
from server.mcp.consent.permissions import UnknownPermission, standing_mandate
from server.mcp.installed import FIX, MESSAGE, is_installed
from server.mcp.transports.headers import PERMISSION_HEADER, SESSION_HEADER
from server.mcp.transports.http import McpService
from server.mcp.visitor import Visitor
from server.requests.operation import operation

if TYPE_CHECKING:
    from server.mcp.tools.tool import Group

PATH: Final = "/mcp"


class _McpResponse(Response):
    """A response that the package `mcp` makes."""

    def __init__(self, service: McpService, group: Group | None, visitor: Visitor) -> None:
        super().__init__()
        self._service = service
        self._group: Group | None = group
        self._visitor = visitor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await self._service.answer(self._group, self._visitor, scope, receive, send)


@operation(described=False)
async def mcp(request: Request) -> Response:
    """One JSON-RPC message of MCP, answered as JSON or as a stream of messages.

    Which messages there are is in MCP's specification; the addresses `/mcp/canvas` and `/mcp/system` have a part of the
    tools each.
    """
    if not is_installed():
        raise ApiError(501, "mcp_not_installed", MESSAGE, FIX)
    group = request.path_params.get("group")
    if group not in (None, "canvas", "system"):
        fix = f"Use {PATH}, {PATH}/canvas or {PATH}/system."
        raise ApiError(404, "not_found", "There is no such MCP server.", fix)
    try:
        mandate = standing_mandate(request.headers.getlist(PERMISSION_HEADER))
    except UnknownPermission as unknown:
        raise ApiError(400, "unknown_permission", unknown.message, unknown.fix, PERMISSION_HEADER) from None
    session = request.headers.get(SESSION_HEADER, "")
    visitor = Visitor(caller_of(request), session[:100], mandate)
    state = request.app.state
    if state.mcp is None:
        state.mcp = McpService(state.server)
    return _McpResponse(state.mcp, group, visitor)
