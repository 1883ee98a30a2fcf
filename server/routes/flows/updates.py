"""Stored flows whose components are of an earlier engine, over HTTP: updated on request."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from flows.action_json import action_to_json
from flows.describe.actions import describe_action
from flows.document import Json, JsonObject
from flows.edits.updates import update_components
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object
from server.requests.operation import operation
from server.routes.flows.models import UpdatedFlow, UpdateRequest
from server.routes.flows.stale import known_components
from server.routes.flows.stored import PATH, seen_version, tag_of
from server.store.flows import VersionConflict


@operation(UpdatedFlow, body=UpdateRequest, headers=("ETag",), body_optional=True)
async def update(request: Request) -> Response:
    """Update a flow's stale components as its next revision; with `preview`, say only what would change."""
    caller, flow_id = caller_of(request), request.path_params["flow_id"]
    document = await read_object(request, caller.settings.body_limit, optional=True)
    preview = document.get("preview", False)
    if not isinstance(preview, bool):
        raise ApiError(422, "invalid_request", "preview is not true or false.", "Send true or false.", "$.preview")
    version = None if preview else seen_version(request, document)
    store, catalogue = await caller.flows(), await known_components(caller)
    stored = await store.get(flow_id)
    if version is not None and stored.entry.version != version:
        raise VersionConflict(stored.entry.version)
    made = await asyncio.to_thread(update_components, stored.flow, catalogue)
    entry = stored.entry
    if version is not None and made.updated:
        entry = await store.replace(flow_id, made.flow, version)
    reply: JsonObject = {
        **entry.to_json(),
        "components": [one.to_json() for one in made.updated],
        "changes": [describe_action(action, stored.flow) for action in made.actions],
        "actions": [action_to_json(action) for action in made.actions],
        "lost": list[Json](made.lost),
    }
    return JsonResponse(reply, headers={"ETag": tag_of(entry)})


routes = [Route(f"{PATH}/{{flow_id}}/update-components", update, methods=["POST"])]
