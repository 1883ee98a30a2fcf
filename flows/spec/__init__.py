"""The text form of a flow: parsing it, printing it, and building flows from it."""

from flows.spec.build import BuildResult, build, build_spec
from flows.spec.parse import Spec, SpecEdge, SpecNode, SpecValue, parse
from flows.spec.print import PrintedSpec, print_spec, to_spec

__all__ = [
    "BuildResult",
    "PrintedSpec",
    "Spec",
    "SpecEdge",
    "SpecNode",
    "SpecValue",
    "build",
    "build_spec",
    "parse",
    "print_spec",
    "to_spec",
]
