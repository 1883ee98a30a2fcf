"""The documents of `wirewright flow` that need no run; they import nothing that takes time."""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from flows.faults import Fault

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


class Removed(TypedDict):
    """How many were removed."""

    removed: int
