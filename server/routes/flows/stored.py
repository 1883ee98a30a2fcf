"""Stored flows over HTTP, kept with optimistic versions."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.action_json import ActionFormatError, action_from_json
from flows.actions import FlowAction, StaleAction, apply_all
from flows.document import Json, JsonObject
from flows.json_values import NotJsonError
from runtime.langflow.store.links import Links
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import flow_of, read_object
from server.requests.operation import operation
from server.requests.page import paging, queried
from server.requests.query import is_number
from server.routes.flows.models import (
    FlowActions,
    FlowPage,
    FlowQuery,
    FlowReplacement,
    FlowToStore,
    StaleFlowPage,
    WholeFlow,
)
from server.routes.flows.stale import stale_flows
from server.store.flows import FlowEntry, VersionConflict
from tools.json_types import FlowDocument

VERSION_LIMIT = 2**63 - 1
"""Versions are below it, so that the next one still fits into the database."""

PATH = "/api/v1/flows"

ACTIONS = 1_000
"""Flow actions in one change."""


class Flows(HTTPEndpoint):
    """All stored flows."""

    @operation(FlowPage | StaleFlowPage, query=FlowQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, last changed first; `q` and `stale` leave out others."""
        asked = queried(FlowQuery, request)
        if asked.stale:
            stale = await stale_flows(caller_of(request), asked.q)
            page = stale[asked.offset : asked.offset + asked.limit]
            return JsonResponse(StaleFlowPage.model_validate({"flows": page, **paging(request, asked, len(stale))}))
        entries, total = await (await caller_of(request).flows()).page(asked.limit, asked.offset, asked.q)
        return JsonResponse(FlowPage.model_validate({"flows": entries, **paging(request, asked, total)}))

    @operation(FlowEntry, body=FlowDocument | FlowToStore, status=201, headers=("ETag", "Location"), errors=(409,))
    async def post(self, request: Request) -> Response:
        """Store a new one."""
        caller = caller_of(request)
        document = await read_object(request, caller.settings.flow_body_limit)
        flow = flow_of(*_flow_part(document), caller.settings.nodes_limit)
        entry = await (await caller.flows()).add(flow)
        return created(entry)


class OneFlow(HTTPEndpoint):
    """One stored flow."""

    @operation(WholeFlow, headers=("ETag",), also={304: None})
    async def get(self, request: Request) -> Response:
        """The flow with its document; nothing but the status 304 if it is still at the version in `If-None-Match`."""
        stored = await (await caller_of(request).flows()).get(request.path_params["flow_id"])
        headers = {"ETag": tag_of(stored.entry)}
        if request.headers.get("if-none-match", "").strip().removeprefix("W/") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return JsonResponse(stored.to_json(), headers=headers)

    @operation(FlowEntry, body=FlowReplacement, headers=("ETag",))
    async def put(self, request: Request) -> Response:
        """Store its next revision, if it is still at the version that the client has seen."""
        caller = caller_of(request)
        document = await read_object(request, caller.settings.flow_body_limit)
        version = seen_version(request, document)
        if "flow" not in document:
            document = {key: value for key, value in document.items() if key != "version"}
        flow = flow_of(*_flow_part(document), caller.settings.nodes_limit)
        entry = await (await caller.flows()).replace(request.path_params["flow_id"], flow, version)
        return JsonResponse(entry.to_json(), headers={"ETag": tag_of(entry)})

    @operation(FlowEntry, body=FlowActions, headers=("ETag",))
    async def patch(self, request: Request) -> Response:
        """Change it by flow actions, all of them or none, based on the version that the client has seen."""
        caller, flow_id = caller_of(request), request.path_params["flow_id"]
        document = await read_object(request, caller.settings.flow_body_limit)
        version, actions = seen_version(request, document), _actions(document)
        store = await caller.flows()
        stored = await store.get(flow_id)
        if stored.entry.version != version:
            raise VersionConflict(stored.entry.version)
        try:
            changed = apply_all(stored.flow, actions)
        except StaleAction as stale:
            fix = "Read the flow again, and make the actions anew."
            raise ApiError(409, "stale_action", str(stale), fix, "$.actions") from None
        flow = flow_of(changed.raw, "$.actions", caller.settings.nodes_limit)
        entry = await store.replace(flow_id, flow, version)
        return JsonResponse(entry.to_json(), headers={"ETag": tag_of(entry)})

    @operation()
    async def delete(self, request: Request) -> Response:
        """Remove it, with what its sessions remember and its link to a flow of a Langflow server."""
        caller, flow_id = caller_of(request), request.path_params["flow_id"]
        await (await caller.flows()).remove(flow_id)
        await caller.assistant.flow_sessions.remove_flow(caller.id, flow_id)
        await Links(caller.assistant.database, caller.id).remove(flow_id)
        return Response(status_code=204)


def _flow_part(document: JsonObject) -> tuple[Json, str]:
    """The flow in a body, under `flow` or as the whole body, and its JSON path; a name beside `flow` is the flow's.

    Raises:
        ApiError: 422, the name is no text.
    """
    if "flow" not in document or "data" in document or "nodes" in document:
        return document, "$"
    flow, name = document["flow"], document.get("name")
    if name is None or not isinstance(flow, dict):
        return flow, "$.flow"
    if not isinstance(name, str):
        fix = "Send a text, or leave it out: the flow then keeps its own name."
        raise ApiError(422, "invalid_request", "The name of the flow is not a text.", fix, "$.name")
    return {**flow, "name": name}, "$.flow"


def seen_version(request: Request, document: JsonObject) -> int:
    """The version that a change is based on, from `If-Match` or the body.

    Raises:
        ApiError: 428, it is missing; 422, it is no version.
    """
    header = request.headers.get("if-match")
    given: Json = document.get("version") if header is None else header.strip().removeprefix("W/").strip('"')
    if given is None:
        raise ApiError(
            428,
            "version_required",
            "A change must name the version it is based on.",
            "Send the version that you loaded, as `version` in the body or as the header If-Match.",
        )
    if isinstance(given, str) and is_number(given):
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or not 0 < given < VERSION_LIMIT:
        place = "$.version" if header is None else "If-Match"
        raise ApiError(422, "invalid_request", "The version must be a whole number.", "Send the one you loaded.", place)
    return given


def _actions(document: JsonObject) -> list[FlowAction]:
    """The actions of a change.

    Raises:
        ApiError: 422, naming the first that is none.
    """
    given = document.get("actions")
    if not isinstance(given, list) or not 0 < len(given) <= ACTIONS:
        fix = "Send 1 to 1,000 flow actions, such as those of a revision's `actions`."
        raise ApiError(422, "invalid_request", "`actions` is not a list of flow actions.", fix, "$.actions")
    actions: list[FlowAction] = []
    for index, action in enumerate(given):
        try:
            actions.append(action_from_json(action))
        except (ActionFormatError, NotJsonError) as wrong:
            place = f"$.actions[{index}]"
            raise ApiError(422, "invalid_action", str(wrong), "Correct this action.", place) from None
    return actions


def created(entry: FlowEntry) -> Response:
    """The reply to a request that has stored a new flow."""
    return JsonResponse(entry.to_json(), 201, {"Location": f"{PATH}/{entry.id}", "ETag": tag_of(entry)})


def tag_of(entry: FlowEntry) -> str:
    """The entity tag of a flow: its version."""
    return f'"{entry.version}"'


routes = [
    Route(PATH, Flows),
    Route(f"{PATH}/{{flow_id}}", OneFlow),
]
