"""The documents of servers: their tokens, and the flows that they store."""

from typing_extensions import TypedDict

from server.store.flows import FlowEntry, Revision


class SignedIn(TypedDict):
    """The server that a token was kept for."""

    server: str


class SignedOut(TypedDict):
    """The server whose token was removed."""

    removed: str


class ServerList(TypedDict):
    """The servers that a token is kept for."""

    servers: list[str]


class StoredFlows(TypedDict):
    """Flows that a server stores, without their documents, and how many there are in all."""

    flows: list[FlowEntry]
    total: int


class FlowWritten(TypedDict):
    """A stored flow that was written to `out`."""

    id: str
    version: int
    out: str


class Revisions(TypedDict):
    """The versions of a stored flow that are kept, latest first."""

    revisions: list[Revision]
