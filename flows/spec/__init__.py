"""The text form of a flow: parsing it, printing it, and building flows from it."""

from flows.spec.build import build
from flows.spec.parse import parse
from flows.spec.print import print_spec, to_spec

__all__ = ["build", "parse", "print_spec", "to_spec"]
