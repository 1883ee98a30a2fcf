"""Stored flows: the store that the server needs, and its entries and errors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Protocol

from flows.document import Flow, JsonObject


class FlowNotStored(LookupError):
    """There is no flow with this id."""

    def __init__(self, flow_id: str) -> None:
        super().__init__(f"There is no flow {flow_id!r}.")
        self.flow_id = flow_id


class VersionConflict(Exception):
    """The flow is not at the version that was to be replaced; `current` is the one it is at."""

    def __init__(self, current: int) -> None:
        super().__init__(f"The flow is at version {current}.")
        self.current = current


@dataclass(frozen=True, kw_only=True)
class FlowEntry:
    """A stored flow without its document.

    Attributes:
        id: a UUID.
        name: the name of the flow.
        node_count: how many nodes it has.
        edge_count: how many edges it has.
        version: counts its revisions, from 1.
        updated_at: when it was last written, ISO 8601 in UTC.
    """

    id: str
    name: str
    node_count: int
    edge_count: int
    version: int
    updated_at: str

    def to_json(self) -> JsonObject:
        """The entry as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class StoredFlow:
    """A stored flow with its entry."""

    entry: FlowEntry
    flow: Flow

    def to_json(self) -> JsonObject:
        """The entry with the flow's document under `flow`."""
        return {**self.entry.to_json(), "flow": self.flow.raw}


class FlowStore(Protocol):
    """Keeps flows, with optimistic versions. Every method may raise `StoreUnavailable`."""

    async def add(self, flow: Flow) -> FlowEntry:
        """Store a flow under a new id, as version 1."""
        ...

    async def get(self, flow_id: str) -> StoredFlow:
        """The flow with this id.

        Raises:
            FlowNotStored: there is none.
        """
        ...

    async def page(self, limit: int, offset: int) -> tuple[list[FlowEntry], int]:
        """Entries, last changed first, and how many there are in all."""
        ...

    async def replace(self, flow_id: str, flow: Flow, version: int) -> FlowEntry:
        """Store a flow as the revision after `version`.

        Raises:
            FlowNotStored: there is none with this id.
            VersionConflict: it is at another version; nothing is written.
        """
        ...

    async def components_used(self, names: Collection[str]) -> set[str]:
        """Those of these component types that a stored flow uses."""
        ...

    async def remove(self, flow_id: str) -> None:
        """Remove the flow with this id.

        Raises:
            FlowNotStored: there is none.
        """
        ...
