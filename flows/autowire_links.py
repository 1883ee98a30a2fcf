"""Edges of which only the components are named, or one port: the ports that a person means by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flows.autowire_decide import MUST, Wiring, decided, enters, parts_of, write_one
from flows.autowire_ends import Option, Part, input_cost, output_costs, pair_cost
from flows.autowire_search import Search, Slot
from flows.catalogue import Catalogue
from flows.document import Edge, Node
from flows.faults import Fault
from flows.ports import TOOL_OUTPUT, Port, PortError, types_compatible, wire


@dataclass(frozen=True)
class Link:
    """A connection of which a spec names the components, and the ports only in part."""

    source: str
    output: str | None
    target: str
    input: str | None
    line: int | None = None


def complete(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    links: Sequence[Link],
    catalogue: Catalogue,
    names: Mapping[str, str] | None = None,
) -> Wiring:
    """Return the edges for links that leave out a port or both.

    Args:
        nodes: all nodes of the flow.
        edges: the edges that are given in full.
        links: the others, by node ids.
        catalogue: as for `derive`.
        names: as for `derive`.
    """
    parts = parts_of(nodes, catalogue, names or {})
    chosen: list[Option] = []
    faults: list[Fault] = []
    ordered = sorted(links, key=lambda link: (link.source, link.target, link.output or "", link.input or ""))
    for group in _groups(ordered):
        slots: list[Slot] = []
        kept: list[Link] = []
        for link in group:
            options = tuple(_link_options(parts, edges, links, link))
            if options:
                slots.append(Slot(options, MUST))
                kept.append(link)
            else:
                faults.append(_impossible(parts, edges, link, catalogue))
        found = decided(Search(parts, edges, slots, whole=False), slots, _report_of(kept))
        chosen += found.options
        faults += found.faults
    return Wiring(tuple(chosen), tuple(faults))


def _groups(links: Sequence[Link]) -> list[list[Link]]:
    """Return the links that compete with each other: those of one target, or of one source."""
    groups: list[list[Link]] = []
    by_end: dict[tuple[str, str], list[Link]] = {}
    for link in links:
        ends = (("from", link.source), ("to", link.target))
        joined = {id(by_end[end]): by_end[end] for end in ends if end in by_end}
        group = [*(member for other in joined.values() for member in other), link]
        groups = [other for other in groups if id(other) not in joined] + [group]
        for member in group:
            by_end["from", member.source] = by_end["to", member.target] = group
    return groups


def _report_of(links: Sequence[Link]) -> Callable[[Slot, int, list[Option]], Fault]:
    def report(slot: Slot, at: int, options: list[Option]) -> Fault:
        link = links[at]
        message = f"{link.source} -> {link.target} can be connected in more than one way."
        if not options:
            message = f"{link.source} -> {link.target} does not go together with the other edges."
        fix = write_one(options or slot.options)
        fault = Fault(code="ambiguous_edge", message=message, fix=fix, node=link.target, port=link.input)
        return replace(fault, line=link.line)

    return report


def _link_options(parts: dict[str, Part], edges: Sequence[Edge], links: Sequence[Link], link: Link) -> Iterator[Option]:
    source, target = parts[link.source], parts[link.target]
    others = [other for other in links if other is not link]
    returns = bool(target.feedback) and _leads(link.target, link.source, edges, others)
    for output, cost in _leaving(source, target, edges, links, link):
        for port in (*target.inputs, *target.feedback):
            if link.input not in (None, port.name) or not types_compatible(output.types, port.types):
                continue
            if link.source == link.target or not (link.input or (port.is_feedback == returns and target.takes(port))):
                continue
            if not port.is_list and any(enters(edge, target.id, port) for edge in edges):
                continue
            extra = 0 if port.is_feedback or link.input else input_cost(target, port)
            extra += 0 if link.output and link.input else pair_cost(source, output, target, port)
            yield Option(source.id, output.name, target.id, port.name, port.is_feedback, cost + extra)


def _leaving(
    source: Part, target: Part, edges: Sequence[Edge], links: Sequence[Link], link: Link
) -> Iterator[tuple[Port, int]]:
    if link.output is not None:
        yield from ((port, 0) for port in _all_outputs(source) if port.name == link.output)
        return
    looping = {port.name for port in source.feedback}
    in_loop = bool(looping) and _leads(link.target, link.source, edges, links)
    for port, cost in output_costs(source):
        if looping and (port.name in looping) != in_loop:
            continue  # what comes back to a loop leaves by its item, the rest when it is done
        yield port, cost
    if source.can_be_tool and target.is_agent and not any(edge.source == source.id for edge in edges):
        yield Port(name=TOOL_OUTPUT, types=("Tool",)), (source.tool_costs or (40, 0))[0]


def _all_outputs(part: Part) -> list[Port]:
    tool = [Port(name=TOOL_OUTPUT, types=("Tool",))] if part.can_be_tool else []
    return [*part.outputs, *tool]


def _leads(begin: str, end: str, edges: Sequence[Edge], links: Sequence[Link]) -> bool:
    steps = [(edge.source, edge.target) for edge in edges] + [(link.source, link.target) for link in links]
    seen, todo = {begin}, [begin]
    while todo:
        here = todo.pop()
        if here == end:
            return True
        fresh = {target for source, target in steps if source == here} - seen
        seen |= fresh
        todo += fresh
    return False


def _impossible(parts: dict[str, Part], edges: Sequence[Edge], link: Link, catalogue: Catalogue) -> Fault:
    source, target = parts[link.source], parts[link.target]
    output = link.output or next((port.name for port in source.outputs), TOOL_OUTPUT)
    into = link.input or target.main or next((port.name for port in target.inputs), "")
    message = f"Nothing that {link.source} gives fits an input of {link.target} that is free."
    fault = Fault(code="no_connection", message=message, fix="", node=link.target, port=link.input, line=link.line)
    try:
        wire(source.node, output, target.node, into, edges, catalogue)
    except PortError as error:
        return replace(fault, message=f"{message} {error.fault.message}", fix=error.fault.fix)
    return fault
