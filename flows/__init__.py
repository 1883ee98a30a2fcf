"""What a flow is: documents, the catalogue, spec text, ports, edits, checks, layout. Nothing here runs a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.catalogue import Catalogue, CatalogueMissing, UnknownComponent
    from flows.checks import check
    from flows.component_type import ComponentType, Match
    from flows.describe.tool_names import agent_tool_names, tool_names
    from flows.document import Edge, Flow, FlowFormatError, Node
    from flows.edits import Edit, EditError
    from flows.faults import Fault
    from flows.fingerprints import fingerprint
    from flows.spec import BuildResult, PrintedSpec, build, parse, print_spec, to_spec

_HOMES = {
    "BuildResult": "flows.spec",
    "Catalogue": "flows.catalogue",
    "CatalogueMissing": "flows.catalogue",
    "ComponentType": "flows.component_type",
    "Edge": "flows.document",
    "Edit": "flows.edits",
    "EditError": "flows.edits",
    "Fault": "flows.faults",
    "Flow": "flows.document",
    "FlowFormatError": "flows.document",
    "Match": "flows.component_type",
    "Node": "flows.document",
    "PrintedSpec": "flows.spec",
    "UnknownComponent": "flows.catalogue",
    "agent_tool_names": "flows.describe.tool_names",
    "build": "flows.spec",
    "check": "flows.checks",
    "fingerprint": "flows.fingerprints",
    "parse": "flows.spec",
    "print_spec": "flows.spec",
    "to_spec": "flows.spec",
    "tool_names": "flows.describe.tool_names",
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
    "PrintedSpec",
    "UnknownComponent",
    "agent_tool_names",
    "build",
    "check",
    "fingerprint",
    "parse",
    "print_spec",
    "to_spec",
    "tool_names",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'flows' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
