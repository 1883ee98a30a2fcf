"""Matching ports: the candidates for a connection whose ports are not named, best first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flows.document import Edge, Node
from flows.fields.model_values import CONNECTED
from flows.json_values import EMPTY
from flows.ports import Port, feedback_ports, input_ports, output_ports, types_compatible


def fitting_inputs(node: Node, types: Iterable[str], edges: Sequence[Edge] = ()) -> list[Port]:
    """Return the free inputs of a node that accept one of `types`: required, empty and basic ones first.

    Args:
        node: the target node.
        types: the types of the output.
        edges: the flow's edges; a connected single-value input is not free.
    """
    given = tuple(types)
    taken = {edge.target_port for edge in edges if edge.target == node.id and not edge.is_feedback}
    free = [port for port in input_ports(node) if port.is_list or port.name not in taken]
    shown = [port for port in free if (node.field(port.name) or {}).get("show") is not False]
    fitting = [port for port in shown if types_compatible(given, port.types)]
    return sorted(fitting, key=lambda port: _rank(node, port))


def fitting_outputs(node: Node, types: Iterable[str]) -> list[Port]:
    """Return the outputs of a node that provide one of `types`, in their order."""
    wanted = tuple(types)
    return [port for port in output_ports(node) if types_compatible(port.types, wanted)]


def accepted_types(node: Node, port: str, *, feedback: bool = False) -> tuple[str, ...]:
    """Return the types that an input, or an output that closes a loop, accepts; empty if there is no such port."""
    ports = feedback_ports(node) if feedback else input_ports(node)
    return next((known.types for known in ports if known.name == port), ())


def given_types(node: Node, port: str) -> tuple[str, ...]:
    """Return the types of an output; empty if there is no such output."""
    return next((known.types for known in output_ports(node) if known.name == port), ())


def _rank(node: Node, port: Port) -> tuple[bool, bool, bool, bool]:
    field = node.field(port.name) or {}
    has_value = field.get("value") not in (*EMPTY, CONNECTED)
    return bool(field.get("advanced")), not port.required, has_value, port.name == "tool_placeholder"
