"""The versions of a stored flow over HTTP: listed, read with what they changed, compared, and restored."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.action_json import action_to_json
from flows.describe.actions import describe_action
from flows.diff import diff
from flows.document import Flow, Json, JsonObject
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object
from server.requests.operation import operation
from server.requests.page import paging, queried
from server.requests.query import is_number
from server.routes.flows.models import (
    DiffQuery,
    OneRevisionReply,
    RevisionDiff,
    RevisionPage,
    RevisionQuery,
    SeenVersion,
)
from server.routes.flows.stored import PATH, seen_version, tag_of
from server.store.flows import FlowEntry, FlowStore, RevisionNotKept


class Revisions(HTTPEndpoint):
    """All versions of a flow that are kept."""

    @operation(RevisionPage, query=RevisionQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, latest first, without their documents."""
        asked = queried(RevisionQuery, request)
        kept = await (await caller_of(request).flows()).revisions(request.path_params["flow_id"])
        page = kept[asked.offset : asked.offset + asked.limit]
        return JsonResponse(RevisionPage.model_validate({"revisions": page, **paging(request, asked, len(kept))}))


class OneRevision(HTTPEndpoint):
    """One version of a flow."""

    @operation(OneRevisionReply)
    async def get(self, request: Request) -> Response:
        """The flow as it was, and what this version changed: in words, and as the actions that make the change."""
        store, flow_id, version = await caller_of(request).flows(), request.path_params["flow_id"], _version(request)
        revision, flow = await store.at_version(flow_id, version)
        before = await _before(store, flow_id, version)
        change = _difference(flow if before is None else before, flow)
        return JsonResponse({**revision.to_json(), "flow": flow.raw, **change})


@operation(RevisionDiff, query=DiffQuery)
async def difference(request: Request) -> Response:
    """What leads from one version to another, in words and as the actions that make the change."""
    store, flow_id, version = await caller_of(request).flows(), request.path_params["flow_id"], _version(request)
    against = queried(DiffQuery, request).against
    _, after = await store.at_version(flow_id, version)
    _, before = await store.at_version(flow_id, version - 1 if against is None else against)
    known: JsonObject = {"version": version, "against": version - 1 if against is None else against}
    return JsonResponse({**known, **_difference(before, after)})


@operation(FlowEntry, body=SeenVersion, headers=("ETag",), body_optional=True)
async def restore(request: Request) -> Response:
    """Store an earlier version again, as the revision after the one that the client has seen."""
    caller, flow_id = caller_of(request), request.path_params["flow_id"]
    document = await read_object(request, caller.settings.body_limit, optional=True)
    seen, store = seen_version(request, document), await caller.flows()
    _, flow = await store.at_version(flow_id, _version(request))
    entry = await store.replace(flow_id, flow, seen)
    return JsonResponse(entry.to_json(), headers={"ETag": tag_of(entry)})


def _difference(before: Flow, after: Flow) -> JsonObject:
    """What leads from one flow to another: `changes` in words, and the `actions` themselves."""
    actions = diff(before, after)
    words: list[Json] = [describe_action(action, before) for action in actions]
    return {"changes": words, "actions": [action_to_json(action) for action in actions]}


async def _before(store: FlowStore, flow_id: str, version: int) -> Flow | None:
    """The flow before a version; None when that is not kept."""
    try:
        return (await store.at_version(flow_id, version - 1))[1]
    except RevisionNotKept:
        return None


def _version(request: Request) -> int:
    given: str = request.path_params["version"]
    if not is_number(given) or not 0 < int(given) < 2**31:
        fix = "GET /api/v1/flows/{id}/revisions lists the versions."
        raise ApiError(404, "revision_not_found", f"There is no version {given[:20]!r}.", fix)
    return int(given)


routes = [
    Route(f"{PATH}/{{flow_id}}/revisions", Revisions),
    Route(f"{PATH}/{{flow_id}}/revisions/{{version}}", OneRevision),
    Route(f"{PATH}/{{flow_id}}/revisions/{{version}}/diff", difference, methods=["GET"]),
    Route(f"{PATH}/{{flow_id}}/revisions/{{version}}/restore", restore, methods=["POST"]),
]
