"""The flows that a server stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from cli.errors import BadUsage, CommandError
from cli.input.texts import bad_text
from cli.remote.connection import Server, segment
from flows.document import Flow
from runtime.files.texts import unreadable
from server.routes.flows.models import (
    FlowPage,
    FlowReplacement,
    ImportedFlows,
    OneRevisionReply,
    RevisionPage,
    SeenVersion,
    StaleFlow,
    StaleFlowPage,
    UpdatedFlow,
    WholeFlow,
)
from server.routes.flows.templates import TemplateEntry, TemplatePage, WholeTemplate
from server.store.flows import FlowEntry, Revision

FLOWS: Final = "/api/v1/flows"
TEMPLATES: Final = "/api/v1/templates"
_PAGE: Final = 200
"""Flows that a page has at most."""
_IMPORT_LIMIT: Final = 32_000_000
"""Bytes of an import, as servers take them unless they are told otherwise."""

_Flows = TypeVar("_Flows", FlowPage, StaleFlowPage)


class RemoteFlows:
    """The flows that a server stores.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self.server = server

    def entries(self, text: str = "", limit: int = _PAGE) -> tuple[list[FlowEntry], int]:
        """Flows, last changed first, and how many there are in all.

        Args:
            text: what their names contain.
            limit: how many at most.
        """
        found: list[FlowEntry] = []
        total = 0
        for page in self._pages(FlowPage, text, limit):
            found, total = found + page.flows, page.total
        return found, total

    def stale(self, text: str = "", limit: int = _PAGE) -> tuple[list[StaleFlow], int]:
        """The flows with components of an earlier engine, last changed first, and how many there are in all.

        Args:
            text: what their names contain.
            limit: how many at most.
        """
        found: list[StaleFlow] = []
        total = 0
        for page in self._pages(StaleFlowPage, text, limit, stale="true"):
            found, total = found + page.flows, page.total
        return found, total

    def _pages(self, kind: type[_Flows], text: str, limit: int, **more: str) -> Iterator[_Flows]:
        """Pages of flows, with as many flows together as are wanted."""
        count = 0
        while True:
            asked: dict[str, str | int] = {"limit": min(limit - count, _PAGE), "offset": count, "q": text, **more}
            page = self.server.read(kind, FLOWS, asked)
            yield page
            count += len(page.flows)
            if count >= limit or page.next is None or not page.flows:
                return

    def find(self, name: str) -> FlowEntry:
        """The flow with an id or a name, or whose id alone begins so.

        Raises:
            CommandError: there is none, or there are several.
        """
        try:
            return entry_of(self.get(name)) if name.strip() and "/" not in name else self._named(name)
        except CommandError as error:
            if error.code != "flow_not_found":
                raise
        return self._named(name)

    def _named(self, name: str) -> FlowEntry:
        entries, _ = self.entries(limit=10_000)
        found = [one for one in entries if name and one.name == name] or [
            one for one in entries if name and one.id.startswith(name)
        ]
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:3])
            message = f"{len(found)} flows are called {name[:80]!r}."
            raise CommandError("flow_ambiguous", message, fix=f"Name one by its id: {ids}.", where="FLOW")
        if not found:
            fix = f"wirewright flow list --server {self.server.origin} lists the stored flows."
            raise CommandError(
                "flow_not_found", f"There is no flow {name[:80]!r} on the server.", fix=fix, where="FLOW"
            )
        return found[0]

    def get(self, flow_id: str) -> WholeFlow:
        """One flow with its document."""
        return self.server.read(WholeFlow, _place(flow_id))

    def export(self, flow_id: str) -> bytes:
        """A flow as a file that Langflow imports."""
        return self.server.send("GET", f"{_place(flow_id)}/export").content

    def import_content(self, content: bytes) -> ImportedFlows:
        """Store the flows in an export or in a list of them, all of them or none, or those in an archive of a project.

        Args:
            content: JSON, or a zip archive.
        """
        kind = "application/zip" if content.startswith(b"PK") else "application/json"
        response = self.server.send("POST", f"{FLOWS}/import", content=content, headers={"Content-Type": kind})
        return self.server.typed(ImportedFlows, response)

    def replace(self, entry: FlowEntry, flow: Flow, version: int | None = None) -> FlowEntry:
        """Store the next version of a flow.

        Args:
            entry: the flow as it is listed.
            flow: the document.
            version: the version that it is based on; None for that of the entry.
        """
        body = FlowReplacement(flow=flow.raw, version=version or entry.version)
        return self._entry(self.server.send("PUT", _place(entry.id), json=body.model_dump(mode="json")))

    def remove(self, flow_id: str) -> None:
        """Remove a flow, with its versions and sessions."""
        self.server.send("DELETE", _place(flow_id))

    def duplicate(self, flow_id: str) -> FlowEntry:
        """Store a copy of a flow as a new one."""
        return self._entry(self.server.send("POST", f"{_place(flow_id)}/duplicate"))

    def start(self, template: str, name: str | None) -> FlowEntry:
        """Store a new flow that begins as a starter flow.

        Args:
            template: the starter flow.
            name: what it is called; None for the template's title.
        """
        body = {} if name is None else {"name": name}
        return self._entry(self.server.send("POST", f"{TEMPLATES}/{segment(template)}/flows", json=body))

    def templates(self) -> list[TemplateEntry]:
        """The starter flows that the server knows."""
        found: list[TemplateEntry] = []
        while True:
            page = self.server.read(TemplatePage, TEMPLATES, {"limit": _PAGE, "offset": len(found)})
            found += page.templates
            if page.next is None or not page.templates:
                return found

    def template(self, name: str) -> WholeTemplate:
        """One starter flow with its spec."""
        return self.server.read(WholeTemplate, f"{TEMPLATES}/{segment(name)}")

    def update_components(self, entry: FlowEntry, *, preview: bool) -> UpdatedFlow:
        """Update the stale components of a flow, or say what would change."""
        body = {"preview": True} if preview else {"version": entry.version}
        return self.server.change(UpdatedFlow, "POST", f"{_place(entry.id)}/update-components", body)

    def at_version(self, flow_id: str, version: int) -> Flow:
        """A flow as it was at one of the versions that are kept."""
        place = f"{_place(flow_id)}/revisions/{version}"
        return Flow.from_json(self.server.read(OneRevisionReply, place).flow)

    def revisions(self, flow_id: str) -> list[Revision]:
        """The versions of a flow that are kept, latest first."""
        return self.server.read(RevisionPage, f"{_place(flow_id)}/revisions").revisions

    def restore(self, entry: FlowEntry, version: int) -> FlowEntry:
        """Store an earlier version again, as the newest."""
        body = SeenVersion(version=entry.version).model_dump(mode="json")
        return self._entry(self.server.send("POST", f"{_place(entry.id)}/revisions/{version}/restore", json=body))

    def _entry(self, response: Any) -> FlowEntry:
        return self.server.typed(FlowEntry, response)


def entry_of(whole: WholeFlow) -> FlowEntry:
    """A flow without its document."""
    return FlowEntry(**whole.model_dump(exclude={"flow"}))


def _place(flow_id: str) -> str:
    return f"{FLOWS}/{segment(flow_id)}"


def import_content(name: str) -> bytes:
    """The content of a file to import, or of standard input for `-`.

    Raises:
        BadUsage: it cannot be read, or is too large.
    """
    import sys

    try:
        if name == "-":
            body = sys.stdin.buffer.read(_IMPORT_LIMIT + 1)
        else:
            with Path(name).open("rb") as file:
                body = file.read(_IMPORT_LIMIT + 1)
    except (OSError, ValueError) as failure:
        raise bad_text(name, unreadable(failure)) from None
    if len(body) > _IMPORT_LIMIT:
        message = f"{name} has more than {_IMPORT_LIMIT // 1_000_000} MB."
        raise BadUsage("too_large", message, fix="Import fewer flows at once.", where=name)
    return body
