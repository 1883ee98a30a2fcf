"""Stored flows that are linked to flows of a Langflow server, over HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response

from flows.describe.actions import describe_action
from flows.diff import diff
from flows.document import Flow
from flows.merge import combine
from runtime.langflow.changes import Update, content_digest, content_of, moved, update_of
from runtime.langflow.client import opened
from runtime.langflow.connections import Connection, Connections
from runtime.langflow.documents import RemoteFlow
from runtime.langflow.errors import LangflowError
from runtime.langflow.exchange import document_of, send, sendable, what_is_there
from runtime.langflow.secrets import with_secrets_of, without_secrets
from runtime.langflow.store.bases import base_of_document, document_of_base
from runtime.langflow.store.links import Links, StoredLink
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import flow_of, read_object, validated
from server.requests.operation import operation
from server.routes.flows.stale import known_components
from server.routes.flows.stored import seen_version, tag_of
from server.routes.langflow.errors import STATUSES, langflow_errors
from server.routes.langflow.models import (
    LinkRequest,
    LinkState,
    ReadReply,
    ReadRequest,
    SendReply,
    SendRequest,
)
from server.store.flows import StoredFlow, VersionConflict


class OneLink(HTTPEndpoint):
    """The link of a stored flow."""

    @operation(LinkState, errors=STATUSES)
    async def get(self, request: Request) -> Response:
        """How it and the flow there stand."""
        caller = caller_of(request)
        stored, link = await _linked(caller, request)
        return JsonResponse(await _state(caller, stored, link))

    @operation(LinkState, body=LinkRequest, errors=STATUSES)
    async def put(self, request: Request) -> Response:
        """Link it to a flow there; neither of them changes."""
        caller = caller_of(request)
        stored = await _stored(caller, request)
        given = validated(LinkRequest, await read_object(request, caller.settings.body_limit))
        with langflow_errors("$.connection"):
            connection = await Connections(caller.variables).get(given.connection)
        with langflow_errors("$.flow"):
            async with opened(connection) as server:
                remote = await server.flow((await server.find(given.flow)).id)
            theirs = document_of(remote)
        same = content_digest(theirs) == content_digest(stored.flow)
        link = _link(stored, connection, remote, document_of_base(theirs) if same else "")
        await _links(caller).keep(link)
        return JsonResponse(await _state(caller, stored, link))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Remove the link; neither of the flows changes."""
        caller = caller_of(request)
        stored, _ = await _linked(caller, request)
        await _links(caller).remove(stored.entry.id)
        return Response(status_code=204)


class Reading(HTTPEndpoint):
    """Taking over what was changed there."""

    @operation(ReadReply, body=ReadRequest, headers=("ETag",), errors=STATUSES)
    async def put(self, request: Request) -> Response:
        """Store what was changed there as the next version, merged with what was changed here."""
        caller = caller_of(request)
        stored, link = await _linked(caller, request)
        document = await read_object(request, caller.settings.body_limit)
        version, given = seen_version(request, document), validated(ReadRequest, document)
        _check_version(stored, version)
        with langflow_errors():
            connection = await _connection(caller, link)
            async with opened(connection) as server:
                remote = await server.flow(link.there)
            result = _taken_over(stored.flow, link, document_of(remote), connection, overwrite=given.overwrite)
        changed = flow_of(result.raw, "$", caller.settings.nodes_limit)
        actions, entry = diff(stored.flow, changed), stored.entry
        if actions:
            entry = await (await caller.flows()).replace(entry.id, changed, version)
        base = document_of_base(document_of(remote))
        await _links(caller).keep(replace(_link(stored, connection, remote, base), version=entry.version))
        changes = list(dict.fromkeys(describe_action(action, changed) for action in actions))
        return JsonResponse(ReadReply(version=entry.version, changes=changes), headers={"ETag": tag_of(entry)})


class Sending(HTTPEndpoint):
    """Sending what was changed here."""

    @operation(SendReply, body=SendRequest, headers=("ETag",), errors=STATUSES)
    async def put(self, request: Request) -> Response:
        """Send it as one update, merged with what was changed there; with `preview`, say only what would be sent."""
        caller = caller_of(request)
        stored, link = await _linked(caller, request)
        document = await read_object(request, caller.settings.body_limit)
        version, given = seen_version(request, document), validated(SendRequest, document)
        _check_version(stored, version)
        local = await known_components(caller)
        sent = False
        with langflow_errors():
            connection = await _connection(caller, link)
            async with opened(connection) as server:
                seen, there = await server.flow(link.there), await what_is_there(server)
                update = await asyncio.to_thread(
                    update_of,
                    base_of_document(link.base) if link.base else None,
                    stored.flow,
                    seen,
                    there,
                    local,
                    with_secrets=given.with_secrets,
                    overwrite=given.overwrite,
                )
                sendable(update, connection)
                waits = not given.approved and any(not fault.is_error for fault in update.faults)
                if not given.preview and not waits:
                    remote, sent = await send(server, update), bool(update.body)
                    await _links(caller).keep(_link(stored, connection, remote, document_of_base(document_of(remote))))
        return JsonResponse(_reply(update, stored, sent=sent, waits=waits), headers={"ETag": tag_of(stored.entry)})


def _reply(update: Update, stored: StoredFlow, *, sent: bool, waits: bool) -> SendReply:
    return SendReply(
        sent=sent,
        needs_approval=waits,
        moved=update.moved,
        changes=list(update.changes),
        named=list(update.named),
        missing=list(update.faults),
        version=stored.entry.version,
    )


def _taken_over(ours: Flow, link: StoredLink, theirs: Flow, connection: Connection, *, overwrite: bool) -> Flow:
    """Our flow with what was changed there.

    Raises:
        LangflowError: both changed the same places.
    """
    bare = without_secrets(content_of(theirs))
    mine = without_secrets(content_of(ours))
    if overwrite or ours.is_empty:
        merged, clashes = bare, ()
    elif not link.base:
        raise LangflowError(
            "flow_moved_on",
            f"It is not known what this flow and the one at {connection.url} had in common.",
            "Send `overwrite` to replace it.",
        )
    else:
        combined = combine(base_of_document(link.base), mine, bare)
        merged, clashes = combined.flow, combined.clashes
    if clashes:
        message = f"Both changed the same: {describe_action(clashes[0], mine)}."
        raise LangflowError("flow_moved_on", message, "Send `overwrite` to take what is there.")
    whole = with_secrets_of(merged, content_of(ours))  # the secrets that were typed in here stay
    kept = {key: value for key, value in ours.raw.items() if key not in ("nodes", "edges")}
    return Flow({**kept, **whole.raw})


async def _state(caller: Caller, stored: StoredFlow, link: StoredLink) -> LinkState:
    """How both flows stand; a server that cannot be asked is no error here."""
    name, how, problem = None, None, None
    try:
        async with opened(await _connection(caller, link)) as server:
            remote = await server.flow(link.there)
        name = remote.name
        how = moved(base_of_document(link.base), document_of(remote)) if link.base else "content"
    except LangflowError as error:
        problem = error.message
    changed = not link.base or content_digest(stored.flow) != content_digest(base_of_document(link.base))
    return LinkState(
        url=link.url,
        flow=link.there,
        name=name,
        updated_at=link.updated_at,
        version=link.version,
        changed_here=changed and (not link.base or stored.entry.version != link.version),
        moved=how,
        problem=problem,
    )


async def _stored(caller: Caller, request: Request) -> StoredFlow:
    return await (await caller.flows()).get(request.path_params["flow_id"])


async def _linked(caller: Caller, request: Request) -> tuple[StoredFlow, StoredLink]:
    """The stored flow that a request names, and its link.

    Raises:
        ApiError: 404, it has none.
    """
    stored = await _stored(caller, request)
    link = await _links(caller).get(stored.entry.id)
    if link is None:
        fix = "PUT /api/v1/flows/{id}/langflow links it."
        raise ApiError(404, "not_linked", "This flow is not linked to one of a Langflow server.", fix)
    return stored, link


async def _connection(caller: Caller, link: StoredLink) -> Connection:
    """The connection to the server of a link.

    Raises:
        LangflowError: that server is not connected any more.
    """
    known = await Connections(caller.variables).all()
    found = next((one for one in known if one.url == link.url), None)
    if found is None:
        fix = "Connect it again: PUT /api/v1/langflow/{name}"
        raise LangflowError("not_connected", f"{link.url} is not connected.", fix)
    return found


def _link(stored: StoredFlow, connection: Connection, remote: RemoteFlow, base: str) -> StoredLink:
    return StoredLink(
        flow=stored.entry.id,
        version=stored.entry.version,
        url=connection.url,
        there=remote.id,
        updated_at=remote.updated_at or "",
        base=base,
    )


def _links(caller: Caller) -> Links:
    return Links(caller.assistant.database, caller.id)


def _check_version(stored: StoredFlow, version: int) -> None:
    if stored.entry.version != version:
        raise VersionConflict(stored.entry.version)
