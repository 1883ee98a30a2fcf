"""The text form of a flow: reading it, printing it, and building flows from it."""

from flows.spec.build import BuildResult, build, build_spec
from flows.spec.parse import Spec, SpecEdge, SpecNode, SpecValue, parse
from flows.spec.print import Spoken, spoken, to_spec

__all__ = [
    "BuildResult",
    "Spec",
    "SpecEdge",
    "SpecNode",
    "SpecValue",
    "Spoken",
    "build",
    "build_spec",
    "parse",
    "spoken",
    "to_spec",
]
