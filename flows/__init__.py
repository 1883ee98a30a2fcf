"""What a flow is: documents, the catalogue, spec text, ports, edits, checks, layout. Nothing here runs a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.catalogue import Catalogue, CatalogueMissing, ComponentType, Match, UnknownComponent
    from flows.checks import check
    from flows.diff import fingerprint
    from flows.document import Edge, Flow, FlowFormatError, Node
    from flows.edit import Edit, EditError
    from flows.faults import Fault
    from flows.spec import BuildResult, build, parse, to_spec

_HOMES = {
    "BuildResult": "flows.spec",
    "Catalogue": "flows.catalogue",
    "CatalogueMissing": "flows.catalogue",
    "ComponentType": "flows.catalogue",
    "Edge": "flows.document",
    "Edit": "flows.edit",
    "EditError": "flows.edit",
    "Fault": "flows.faults",
    "Flow": "flows.document",
    "FlowFormatError": "flows.document",
    "Match": "flows.catalogue",
    "Node": "flows.document",
    "UnknownComponent": "flows.catalogue",
    "build": "flows.spec",
    "check": "flows.checks",
    "fingerprint": "flows.diff",
    "parse": "flows.spec",
    "to_spec": "flows.spec",
}

__all__ = [
    "BuildResult",
    "Catalogue",
    "CatalogueMissing",
    "ComponentType",
    "Edge",
    "Edit",
    "EditError",
    "Fault",
    "Flow",
    "FlowFormatError",
    "Match",
    "Node",
    "UnknownComponent",
    "build",
    "check",
    "fingerprint",
    "parse",
    "to_spec",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'flows' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
