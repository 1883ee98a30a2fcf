"""What goes between a Langflow server and us: a flow that is pulled, and one update that is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from flows.catalogue import Catalogue
from flows.document import Flow, FlowFormatError, JsonObject
from flows.faults import Fault
from flows.fields.model_providers import prefix_of
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.langflow.changes import LINK, Update, content_digest, content_of
from runtime.langflow.client import LangflowServer
from runtime.langflow.connections import Connection
from runtime.langflow.documents import RemoteFlow
from runtime.langflow.errors import LangflowError
from runtime.langflow.mapping import There
from runtime.langflow.secrets import without_secrets


@dataclass(frozen=True, kw_only=True)
class Link:
    """Where a flow is from.

    Attributes:
        url: the server.
        flow: the flow's id there.
        updated_at: when it had been changed last there, as the server says it.
        base: the digest of what it was like.
    """

    url: str
    flow: str
    updated_at: str
    base: str

    @classmethod
    def of(cls, flow: Flow) -> Link | None:
        """The link in a flow; None if it has none."""
        told = object_at(flow.raw, LINK)
        values = {key: as_text(told.get(key)) for key in ("url", "flow", "updated_at", "base")}
        return cls(**values) if values["url"] and values["flow"] else None

    def to_json(self) -> JsonObject:
        """The link as it stands in a flow."""
        return {"url": self.url, "flow": self.flow, "updated_at": self.updated_at, "base": self.base}


async def what_is_there(server: LangflowServer) -> There:
    """What a server has: component types, variables and models.

    Args:
        server: the server.
    """
    catalogue, variables, models = await asyncio.gather(server.catalogue(), server.variables(), server.models())
    return There(catalogue=catalogue, variables=variables, models=models)


def document_of(remote: RemoteFlow) -> Flow:
    """The flow that a server has given.

    Raises:
        LangflowError: it is none.
    """
    try:
        return remote.flow
    except FlowFormatError as error:
        message = f"The flow {remote.name!r} there is not one that we can read: {error.path} {error.message}."
        raise LangflowError("unreadable_flow", message, "Open and save it in Langflow.") from None


def pulled(connection: Connection, remote: RemoteFlow, *, with_secrets: bool = False) -> Flow:
    """A flow as it is kept here, with where it is from.

    Args:
        connection: the server.
        remote: the flow, as it was read.
        with_secrets: whether it keeps the secrets that were typed in there.

    Raises:
        LangflowError: it is no flow.
    """
    whole = document_of(remote)
    link = link_to(connection, remote)
    kept = whole if with_secrets else without_secrets(whole)
    return Flow({**content_of(kept).raw, "id": remote.id, LINK: link.to_json()})


def link_to(connection: Connection, remote: RemoteFlow) -> Link:
    """The link to a flow as it is there.

    Args:
        connection: the server.
        remote: the flow, as it was read.
    """
    base = content_digest(document_of(remote))
    return Link(url=connection.url, flow=remote.id, updated_at=remote.updated_at or "", base=base)


def missing_here(flow: Flow, local: Catalogue, variables: Collection[str]) -> list[Fault]:
    """What a pulled flow needs by name and is not here: component types, providers of models, and variables.

    Args:
        flow: the flow.
        local: the component types of this engine.
        variables: the names of the variables here.
    """
    faults: list[Fault] = []

    def missing(code: str, node: str, field: str | None, message: str, fix: str) -> None:
        faults.append(Fault(code=code, message=message, fix=fix, severity="warning", node=node, field=field))

    for node in flow.components:
        if not node.code and node.type not in local:
            missing("unknown_type", node.id, None, f"{node.id}: there is no component type {node.type!r} here.", "")
        for name, entry in node.template.items():
            value = entry.get("value")
            named = as_text(value)
            if entry.get("load_from_db") is True and named and named not in variables:
                message = f"{node.id}: the variable {named}, which its field {name} names, is not kept here."
                missing("unmapped_variable", node.id, name, message, f"wirewright variables set {named}")
            for model in as_list(value) if entry.get("type") == "model" else []:
                provider = as_text(as_object(model).get("provider"))
                if provider and prefix_of(provider) is None:
                    message = f"{node.id}: there is no provider {provider!r} of models here."
                    missing("unmapped_model", node.id, name, message, "wirewright models list shows those that are.")
    return faults


def sendable(update: Update, connection: Connection) -> None:
    """Check that an update may be sent.

    Raises:
        LangflowError: others have changed the same places, it is locked, or the server could not run it.
    """
    errors = [fault for fault in update.faults if fault.is_error]
    if errors:
        first = errors[0]
        more = f" There are {len(errors)} such faults." if len(errors) > 1 else ""
        raise LangflowError("cannot_run_there", f"{first.message}{more} Nothing was sent.", first.fix)
    if update.clashes:
        shown = "; ".join(update.clashes[:3]) + (" …" if len(update.clashes) > 3 else "")
        message = f"The flow was changed at {connection.url} meanwhile, in the same places: {shown}. Nothing was sent."
        raise LangflowError("flow_moved_on", message, "Pull it again and repeat the change, or send yours: --overwrite")
    if update.seen is not None and update.seen.locked and update.body:
        message = f"The flow {update.seen.name!r} is locked at {connection.url}. Nothing was sent."
        raise LangflowError("flow_locked", message, "Unlock it there, in its settings.")


async def send(server: LangflowServer, update: Update, folder_id: str | None = None) -> RemoteFlow:
    """Send an update: one request, or none if nothing changes. Returns the flow as it is there then.

    Args:
        server: the server.
        update: what to send.
        folder_id: the project of a new flow.

    Raises:
        LangflowError: it may not be sent, or the server refuses it.
    """
    sendable(update, server.connection)
    body = update.body
    if update.seen is None:
        return await server.create({**body, "folder_id": folder_id} if folder_id else body)
    return await server.update(update.seen, body) if body else update.seen
