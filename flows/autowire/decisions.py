"""From the best wirings to edges: edges that all of them share are made, differences are reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flows.autowire.slots import Component, Option
from flows.autowire.solver import MAX_BEST, Search, Slot, TooManyWirings
from flows.catalogue import Catalogue
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge, Flow, Json, JsonObject, Node
from flows.faults import Fault
from flows.fingerprints import fingerprint
from flows.ports import Port, supports_tool_mode

MUST = 500
"""The cost of leaving out an explicit edge: more than any wiring."""
_MOST_SHAPES = 8


@dataclass(frozen=True)
class Wiring:
    """The inferred edges in a fixed order, and faults for what is ambiguous."""

    options: tuple[Option, ...]
    faults: tuple[Fault, ...] = ()


def decided(search: Search, slots: Sequence[Slot], report: Callable[[Slot, int, list[Option]], Fault | None]) -> Wiring:
    """Return the edges that all of the best wirings share, and a fault for each slot in which they differ.

    Args:
        search: the search over the slots.
        slots: the slots to fill.
        report: returns the fault of a slot, given its index and its options in the best wirings.
    """
    try:
        best = search.run()
    except TooManyWirings:
        return Wiring((), (too_many_wirings(),))
    if 1 < len(best) <= _MOST_SHAPES and len({_shape(search, choice) for choice in best}) == 1:
        # They only exchange equal components, so they are the same flow.
        best = [min(best, key=lambda choice: sorted(option.text for option in choice if option is not None))]
    sure = len(best) < MAX_BEST  # otherwise there may be others without these edges
    chosen: list[Option] = []
    faults: list[Fault] = []
    for at, slot in enumerate(slots):
        answers = {choice[at] for choice in best}
        only = next(iter(answers)) if len(answers) == 1 else None
        if only is not None:
            chosen += [only] if sure else []
        elif len(answers) > 1 or slot.none == MUST:
            fault = report(slot, at, sorted((a for a in answers if a is not None), key=lambda option: option.text))
            if fault is not None:
                faults.append(fault)
    ordered = sorted(chosen, key=lambda option: (option.feedback, option.output != TOOL_OUTPUT, option.text))
    return Wiring(tuple(ordered), tuple(faults))


def _shape(search: Search, choice: Sequence[Option | None]) -> str:
    edges: list[Json] = [edge.raw for edge in search.edges]
    for option in choice:
        if option is not None:
            end = "name" if option.feedback else "fieldName"
            handles: JsonObject = {"sourceHandle": {"name": option.output}, "targetHandle": {end: option.input}}
            edges.append({"source": option.source, "target": option.target, "data": handles})
    return fingerprint(
        Flow({"nodes": [component.node.raw for component in search.components.values()], "edges": edges})
    )


def components_of(nodes: Sequence[Node], catalogue: Catalogue, names: Mapping[str, str]) -> dict[str, Component]:
    """Return the components by id, in a fixed order; without notes."""
    known = {node.type: catalogue.get(node.type) for node in nodes}
    categories = {name: component.category for name, component in known.items() if component is not None}
    capable = {name for name, component in known.items() if component is not None and component.can_be_tool}
    return {
        node.id: Component(
            node,
            can_be_tool=node.type in capable or supports_tool_mode(node),
            category=categories.get(node.type, ""),
            name=names.get(node.id, ""),
        )
        for node in sorted(nodes, key=lambda node: node.id)
        if not node.is_note
    }


def enters(edge: Edge, target: str, port: Port) -> bool:
    """Say whether an edge leads into a port."""
    return edge.target == target and edge.target_port == port.name and edge.is_feedback == port.is_feedback


def write_one(options: Sequence[Option]) -> str:
    """Return the advice to write one of several edges."""
    shown = "; ".join(option.text for option in options[:6])
    return f"Write the intended one: {shown}." if shown else "Write both ports."


def too_many_wirings() -> Fault:
    """Return the fault of a flow with more wirings than can be compared."""
    message = "There are too many ways to connect these components."
    return Fault(code="ambiguous_edge", message=message, fix="Write the edges, such as `A.message -> B.input_value`.")
