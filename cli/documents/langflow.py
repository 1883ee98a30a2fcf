"""The documents of commands that use a running Langflow."""

from typing import Literal

from typing_extensions import TypedDict

from cli.documents.errors import ErrorObject
from cli.documents.flows import FlowObject as Document
from flows.faults import Fault


class Connected(TypedDict):
    """The Langflow server that was connected."""

    name: str
    url: str
    version: str


class Disconnected(TypedDict):
    """The name of the connection that was removed."""

    removed: str


class ConnectionObject(TypedDict):
    """A Langflow server that is connected; with --check its version, and why it cannot be used."""

    name: str
    url: str
    version: str | None
    error: ErrorObject | None


class ConnectionList(TypedDict):
    """The Langflow servers that are connected."""

    connections: list[ConnectionObject]


class FlowObject(TypedDict):
    """A flow there, with the name of its project."""

    id: str
    name: str
    folder: str | None
    updated_at: str | None


class FlowList(TypedDict):
    """The flows there."""

    flows: list[FlowObject]


class FolderObject(TypedDict):
    """A project there."""

    id: str
    name: str


class FolderList(TypedDict):
    """The projects there."""

    folders: list[FolderObject]


class Pulled(TypedDict):
    """A flow that was read from there; `missing` is what it needs and is not here. With `out`, `flow` is null."""

    id: str
    name: str
    updated_at: str | None
    out: str | None
    flow: Document | None
    missing: list[Fault]


class Pushed(TypedDict):
    """What was sent, or would be.

    `sent` says whether it was. `moved` says how the flow there had changed since it was pulled, `changes` what is
    changed there, `named` what is named otherwise there, and `missing` what is not there.
    """

    ok: bool
    sent: bool
    id: str | None
    name: str
    url: str
    moved: Literal["no", "layout", "content"]
    changes: list[str]
    named: list[str]
    missing: list[Fault]
