"""Langflow servers over HTTP: connected, listed without their keys, disconnected, and asked for their flows."""

from __future__ import annotations

import asyncio

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response

from runtime.langflow.addresses import is_protected
from runtime.langflow.client import opened
from runtime.langflow.connections import Connections, connection_of
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.routes.langflow.errors import STATUSES, langflow_errors
from server.routes.langflow.models import ConnectionEntry, ConnectionList, ConnectionRequest, FlowsThere, FlowThere


class AllConnections(HTTPEndpoint):
    """All connections."""

    @operation(ConnectionList)
    async def get(self, request: Request) -> Response:
        """Their names and addresses."""
        known = await Connections(caller_of(request).variables).all()
        listed = [ConnectionEntry(name=one.name, url=one.url) for one in known]
        return JsonResponse(ConnectionList(connections=listed))


class OneConnection(HTTPEndpoint):
    """One connection."""

    @operation(ConnectionEntry, body=ConnectionRequest, errors=STATUSES)
    async def put(self, request: Request) -> Response:
        """Try a key at an address, and keep both; what was kept under this name before is replaced."""
        caller, name = caller_of(request), request.path_params["name"]
        given = validated(ConnectionRequest, await read_object(request, caller.settings.body_limit))
        with langflow_errors("$"):
            made = connection_of(name, given.url, given.api_key, insecure=given.insecure)
            async with opened(made) as server:
                await server.version()
                await server.check_key()
            insecure = given.insecure and not is_protected(made.url)
            await Connections(caller.variables).keep(made.name, made.url, made.key, insecure=insecure)
        return JsonResponse(ConnectionEntry(name=made.name, url=made.url))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Forget it and its key."""
        if not await Connections(caller_of(request).variables).forget(request.path_params["name"]):
            fix = "GET /api/v1/langflow lists the connections."
            raise ApiError(404, "not_connected", "No Langflow server is called so.", fix)
        return Response(status_code=204)


class FlowsOfConnection(HTTPEndpoint):
    """The flows of a Langflow server."""

    @operation(FlowsThere, errors=STATUSES)
    async def get(self, request: Request) -> Response:
        """Its flows with their projects, last changed first."""
        known = Connections(caller_of(request).variables)
        with langflow_errors():
            connection = await known.get(request.path_params["name"])
            async with opened(connection) as server:
                heads, projects = await asyncio.gather(server.flows(), server.projects())
        names = {one.id: one.name for one in projects}
        heads = sorted(heads, key=lambda one: one.updated_at or "", reverse=True)
        listed = [
            FlowThere(id=one.id, name=one.name, folder=names.get(one.folder_id or ""), updated_at=one.updated_at)
            for one in heads
        ]
        return JsonResponse(FlowsThere(flows=listed))
