"""The documents of `wirewright flow`."""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from flows.faults import Fault
from runtime.results import RunError, RunFile, RunMetrics
from runtime.sessions.entry import SessionEntry
from runtime.sessions.messages import Message

FlowObject: TypeAlias = dict[str, Any]
"""A flow as Langflow exports it."""
ActionObject: TypeAlias = dict[str, Any]
"""A change to a flow, as `flow_update` events have it under `action`."""


class Built(TypedDict):
    """The flow that a spec builds; null when it has errors."""

    ok: bool
    flow: FlowObject | None
    faults: list[Fault]


class Checked(TypedDict):
    """The faults of a flow; only errors make it not ok."""

    ok: bool
    faults: list[Fault]


class Printed(TypedDict):
    """A flow as spec text, with what the text leaves out."""

    ok: bool
    spec: str | None
    faults: list[Fault]


class Differing(TypedDict):
    """What leads from one flow to another; `same` is null, and `same_work` not there, when one does not build."""

    ok: bool
    same: bool | None
    same_work: NotRequired[bool]
    actions: list[ActionObject]
    faults: list[Fault]


class Merged(TypedDict):
    """Two flows on one canvas; null when one does not build."""

    ok: bool
    flow: FlowObject | None
    faults: list[Fault]


class Ran(TypedDict):
    """What a run gave: the chat output's text, all outputs by node, figures, and why it failed.

    `types` and `files` are there when something is in them, `faults` when the flow was not run because of them.
    """

    ok: bool
    output: str | None
    outputs: dict[str, Any]
    types: NotRequired[dict[str, Any]]
    metrics: RunMetrics
    error: RunError | None
    files: NotRequired[list[RunFile]]
    faults: NotRequired[list[Fault]]


class TemplateEntry(TypedDict):
    """A starter flow, as it is listed."""

    name: str
    title: str
    description: str
    tags: list[str]
    needs: list[str]


class TemplateList(TypedDict):
    """The starter flows."""

    templates: list[TemplateEntry]


class TemplateText(TemplateEntry):
    """One starter flow with its spec text."""

    spec: str


class SessionList(TypedDict):
    """The sessions of a flow, last used first."""

    sessions: list[SessionEntry]


class SessionMessages(TypedDict):
    """The messages of a session, oldest first."""

    session: str
    messages: list[Message]


class Removed(TypedDict):
    """How many were removed."""

    removed: int
