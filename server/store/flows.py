"""Stored flows: the store that the server needs, and its entries and errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal, Protocol

from flows.document import Flow, JsonObject

KEPT_REVISIONS: Final = 100
"""How many versions of a flow are kept, the current one included; the oldest are dropped first."""


class RevisionNotKept(LookupError):
    """A flow has no such version, or it is not kept any more."""

    def __init__(self, flow_id: str, version: int) -> None:
        super().__init__(f"The flow {flow_id!r} has no version {version}.")
        self.flow_id = flow_id
        self.version = version


class FlowNotStored(LookupError):
    """There is no flow with this id."""

    def __init__(self, flow_id: str) -> None:
        super().__init__(f"There is no flow {flow_id!r}.")
        self.flow_id = flow_id


class TooManyFlows(Exception):
    """The user has as many flows as one may have; nothing was stored."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"A user may have {limit:,} flows.")
        self.limit = limit


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


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who stored a version of a flow.

    Attributes:
        kind: `client` for a request that wrote the flow, `assistant` for a turn.
        session: the conversation of the turn, or empty.
        turn: the id of the turn, or empty.
    """

    kind: Literal["client", "assistant"] = "client"
    session: str = ""
    turn: str = ""


CLIENT: Final = Author()


@dataclass(frozen=True, kw_only=True)
class Revision:
    """A version of a flow without its document.

    Attributes:
        version: the version, from 1.
        at: when it was stored, ISO 8601 in UTC.
        author: `client` or `assistant`.
        session: the conversation of the turn that stored it, or empty.
        turn: the id of that turn, or empty.
        name: the flow's name then.
        node_count: how many nodes it had.
        edge_count: how many edges it had.
    """

    version: int
    at: str
    author: str
    session: str
    turn: str
    name: str
    node_count: int
    edge_count: int

    def to_json(self) -> JsonObject:
        """The revision as a JSON object."""
        return asdict(self)


class FlowStore(Protocol):
    """Keeps flows, with optimistic versions. Every method may raise `StoreUnavailable`."""

    async def add(self, flow: Flow, author: Author = CLIENT) -> FlowEntry:
        """Store a flow under a new id, as version 1.

        Raises:
            TooManyFlows: the owner has as many as one may have.
        """
        ...

    async def add_all(self, flows: Sequence[Flow], author: Author = CLIENT) -> list[FlowEntry]:
        """Store flows as `add` does: all of them or none."""
        ...

    async def get(self, flow_id: str) -> StoredFlow:
        """The flow with this id.

        Raises:
            FlowNotStored: there is none.
        """
        ...

    async def page(self, limit: int, offset: int, text: str = "") -> tuple[list[FlowEntry], int]:
        """Entries, last changed first, and how many there are in all; of those whose names contain a text."""
        ...

    async def replace(self, flow_id: str, flow: Flow, version: int, author: Author = CLIENT) -> FlowEntry:
        """Store a flow as the revision after `version`.

        Raises:
            FlowNotStored: there is none with this id.
            VersionConflict: it is at another version; nothing is written.
        """
        ...

    async def revisions(self, flow_id: str) -> list[Revision]:
        """The versions of a flow that are kept, latest first.

        Raises:
            FlowNotStored: there is no such flow.
        """
        ...

    async def at_version(self, flow_id: str, version: int) -> tuple[Revision, Flow]:
        """A flow as it was at a version.

        Raises:
            FlowNotStored: there is no such flow.
            RevisionNotKept: it has no such version, or it is not kept any more.
        """
        ...

    async def engine_codes(self, text: str = "") -> list[tuple[FlowEntry, dict[str, list[str]]]]:
        """The entries of flows, last changed first, each with the hashes of the engine's own code in it, by type."""
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
