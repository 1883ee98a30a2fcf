"""What a flow is: documents, the catalogue, spec text, ports, edits, checks, layout. Nothing here runs a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.catalogue import Catalogue, CatalogueMissing, UnknownComponent
    from flows.checks import check
    from flows.component_type import ComponentType, Match
    from flows.document import Edge, Flow, FlowFormatError, Node
    from flows.edits import Edit, EditError
    from flows.faults import Fault
    from flows.fingerprints import fingerprint
    from flows.spec import BuildResult, PrintedSpec, build, parse, print_spec, to_spec

_MODULES = {
    "flows.catalogue": ("Catalogue", "CatalogueMissing", "UnknownComponent"),
    "flows.checks": ("check",),
    "flows.component_type": ("ComponentType", "Match"),
    "flows.document": ("Edge", "Flow", "FlowFormatError", "Node"),
    "flows.edits": ("Edit", "EditError"),
    "flows.faults": ("Fault",),
    "flows.fingerprints": ("fingerprint",),
    "flows.spec": ("BuildResult", "PrintedSpec", "build", "parse", "print_spec", "to_spec"),
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
    "build",
    "check",
    "fingerprint",
    "parse",
    "print_spec",
    "to_spec",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module 'flows' has no attribute {name!r}")
