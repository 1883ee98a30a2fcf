"""Edges that name only their components, or one port: inferring the other ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flows.autowire.decisions import MUST, Wiring, components_of, decided, enters, write_one
from flows.autowire.slots import Component, Option, input_cost, output_costs, pair_cost
from flows.autowire.solver import Search, Slot
from flows.catalogue import Catalogue
from flows.checks.structure import reachable
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge, Node
from flows.faults import Fault
from flows.ports import Port, PortError, types_compatible, wire


@dataclass(frozen=True)
class Link:
    """A connection whose ports a spec omits in part or entirely."""

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
    """Return the edges for links that omit a port or both.

    Args:
        nodes: all nodes of the flow.
        edges: the complete edges.
        links: the incomplete ones, by node ids.
        catalogue: as for `derive`.
        names: as for `derive`.
    """
    components = components_of(nodes, catalogue, names or {})
    chosen: list[Option] = []
    faults: list[Fault] = []
    ordered = sorted(links, key=lambda link: (link.source, link.target, link.output or "", link.input or ""))
    for group in _groups(ordered):
        slots: list[Slot] = []
        kept: list[Link] = []
        for link in group:
            options = tuple(_link_options(components, edges, links, link))
            if options:
                slots.append(Slot(options, MUST))
                kept.append(link)
            else:
                faults.append(_impossible(components, edges, link, catalogue))
        found = decided(Search(components, edges, slots, whole=False), slots, _report_of(kept))
        chosen += found.options
        faults += found.faults
    return Wiring(tuple(chosen), tuple(faults))


def _groups(links: Sequence[Link]) -> list[list[Link]]:
    """Return groups of links that compete with each other because they share a source or a target."""
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
            message = f"{link.source} -> {link.target} conflicts with the other edges."
        fix = write_one(options or slot.options)
        fault = Fault(code="ambiguous_edge", message=message, fix=fix, node=link.target, port=link.input)
        return replace(fault, line=link.line)

    return report


def _link_options(
    components: dict[str, Component], edges: Sequence[Edge], links: Sequence[Link], link: Link
) -> Iterator[Option]:
    source, target = components[link.source], components[link.target]
    returns = bool(target.feedback) and link.source in _returning(target, edges, links)
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
    source: Component, target: Component, edges: Sequence[Edge], links: Sequence[Link], link: Link
) -> Iterator[tuple[Port, int]]:
    if link.output is not None:
        yield from ((port, 0) for port in _all_outputs(source) if port.name == link.output)
        return
    looping = {port.name for port in source.feedback}
    begun = _reached({link.target}, edges, links, around=link.source) if looping else set[str]()
    in_loop = not begun.isdisjoint(_returning(source, edges, links)) if looping else False
    for port, cost in output_costs(source):
        if looping and (port.name in looping) != in_loop:
            continue  # steps that lead back to a loop start at its item, all others at done
        yield port, cost
    if source.can_be_tool and target.is_agent and not any(edge.source == source.id for edge in edges):
        yield Port(name=TOOL_OUTPUT, types=("Tool",)), (source.tool_costs or (40, 0))[0]


def _all_outputs(component: Component) -> list[Port]:
    tool = [Port(name=TOOL_OUTPUT, types=("Tool",))] if component.can_be_tool else []
    return [*component.outputs, *tool]


def _returning(loop: Component, edges: Sequence[Edge], links: Sequence[Link]) -> set[str]:
    """Return the components that lead back to a loop: the predecessors that are reachable from it.

    A nested loop reaches all of its predecessors; of those, the ones reachable without it do not lead back.
    """
    names = {port.name for port in loop.feedback}
    returning = {edge.source for edge in edges if edge.target == loop.id and edge.is_feedback}
    returning |= {link.source for link in links if link.target == loop.id and link.input in names}
    given = any(edge.target == loop.id and not edge.is_feedback for edge in edges)
    open_ends = {link.source for link in links if link.target == loop.id and link.input not in names} - returning
    circling = open_ends & _reached({loop.id}, edges, links)
    if given or circling != open_ends:
        return returning | circling
    steps = _steps(edges, links)
    roots = {source for source, _ in steps} - {target for _, target in steps}
    return returning | (circling - _reached(roots, edges, links, around=loop.id))


def _reached(begin: set[str], edges: Sequence[Edge], links: Sequence[Link], around: str = "") -> set[str]:
    """Return what is reachable from some components, including themselves, without passing through `around`."""
    return reachable(begin, (step for step in _steps(edges, links) if step[0] != around))


def _steps(edges: Sequence[Edge], links: Sequence[Link]) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in edges] + [(link.source, link.target) for link in links]


def _impossible(components: dict[str, Component], edges: Sequence[Edge], link: Link, catalogue: Catalogue) -> Fault:
    source, target = components[link.source], components[link.target]
    output = link.output or next((port.name for port in source.outputs), TOOL_OUTPUT)
    into = link.input or target.main or next((port.name for port in target.inputs), "")
    message = f"No output of {link.source} matches a free input of {link.target}."
    fits = ", ".join(port.name for port in target.inputs)
    fix = f"Name both ports; the inputs of {link.target} are: {fits}." if fits else f"{link.target} has no input."
    fault = Fault(code="no_connection", message=message, fix=fix, node=link.target, port=link.input, line=link.line)
    try:
        wire(source.node, output, target.node, into, edges, catalogue)
    except PortError as error:
        return replace(fault, message=f"{message} {error.fault.message}", fix=error.fault.fix)
    return fault
