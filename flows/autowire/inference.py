"""Inferring connections: unambiguous ones are made, ambiguous ones are reported with their candidates.

A wiring is better if it leaves fewer inputs open and fewer components unused, and if it resembles what people build:
prompts before models, tools on agents, variables connected to what they are named after. Only edges that all of the
best wirings share are made, so the result does not depend on the order of the nodes, and no edge is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flows.autowire.decisions import Wiring, components_of, decided, too_many_wirings, write_one
from flows.autowire.slots import OPEN_MAIN_COST, OPEN_MODEL_COST, Component, Option, output_costs, pair_cost
from flows.autowire.solver import Search, Slot
from flows.catalogue import Catalogue
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge, Flow, Node
from flows.edits.basic import connect
from flows.edits.result import Edit, EditError
from flows.faults import Fault
from flows.ports import Port, types_compatible

MAX_COMPONENTS = 30


@dataclass(frozen=True)
class Wired(Edit):
    """A flow after autowiring; `faults` are the inputs that several outputs could feed, with the candidates."""

    faults: tuple[Fault, ...] = ()


def autowire(flow: Flow, catalogue: Catalogue) -> Wired:
    """Connect what is not connected yet where it is unambiguous; existing edges stay.

    Args:
        flow: the flow.
        catalogue: the component types.
    """
    result = Edit(flow, ())
    while True:  # a new edge may make another unambiguous; each round adds at least one
        wiring = derive(result.flow.nodes, result.flow.edges, catalogue)
        made = _connected(result, wiring, catalogue)
        if made.actions == result.actions:
            return Wired(result.flow, result.actions, faults=wiring.faults)
        result = made


def _connected(so_far: Edit, wiring: Wiring, catalogue: Catalogue) -> Edit:
    """Connect the edges of a wiring one by one."""
    result = so_far
    for option in wiring.options:
        try:
            step = connect(result.flow, catalogue, option.source, option.output, option.target, option.input)
        except EditError:
            continue  # it conflicts with an edge made before it
        if step.flow != result.flow:
            result = Edit(step.flow, (*result.actions, *step.actions))
    return result


def derive(
    nodes: Sequence[Node], edges: Sequence[Edge], catalogue: Catalogue, names: Mapping[str, str] | None = None
) -> Wiring:
    """Return the missing edges that the components need.

    Args:
        nodes: all nodes of the flow.
        edges: the existing edges, which are not changed.
        catalogue: says which components can be tools, and their categories.
        names: the names that a person gave the nodes, by id; a variable of that name refers to the node.
    """
    components = components_of(nodes, catalogue, names or {})
    slots = [*_mode_slots(components, edges), *_need_slots(components, edges)]
    busy = {
        component.id
        for component in components.values()
        if any(component.id in (edge.source, edge.target) for edge in edges)
    }
    if len(components) < 2 or not any(slot.options for slot in slots):
        return Wiring(())
    if len(components) - len(busy) > MAX_COMPONENTS:
        return Wiring((), (too_many_wirings(),))
    return decided(Search(components, edges, slots, whole=True), slots, _need_fault)


def _mode_slots(components: dict[str, Component], edges: Sequence[Edge]) -> Iterator[Slot]:
    agents = [component for component in components.values() if component.is_agent]
    for component in components.values():
        costs = component.tool_costs
        if costs is None or not agents or any(component.id in (edge.source, edge.target) for edge in edges):
            continue
        options = tuple(
            Option(component.id, TOOL_OUTPUT, agent.id, port.name, cost=costs[0])
            for agent in agents
            for port in agent.inputs
            if "Tool" in port.types and agent.id != component.id
        )
        yield Slot(options, costs[1], component.id, is_mode=True)
    consumers = [
        component
        for component in components.values()
        if any(cost == OPEN_MODEL_COST for cost in component.needs.values())
    ]
    for component in components.values():
        if not component.model_outputs or any(component.id in (edge.source, edge.target) for edge in edges):
            continue
        options = tuple(
            Option(component.id, output.name, consumer.id, port.name, cost=0)
            for consumer in consumers
            for port in consumer.inputs
            for output in component.model_outputs
            if consumer.id != component.id
            and consumer.needs.get(port.name) == OPEN_MODEL_COST
            and types_compatible(output.types, port.types)
            if not (consumer.model_outputs and consumer.node.type == component.node.type)
        )
        if options:
            yield Slot(options, OPEN_MODEL_COST, component.id, is_mode=True)


def _need_slots(components: dict[str, Component], edges: Sequence[Edge]) -> Iterator[Slot]:
    fed = {(edge.target, edge.target_port) for edge in edges if not edge.is_feedback}
    model_providers = {component.id for component in components.values() if _only_provides_model(component, edges)}
    steps = {
        component_id: component for component_id, component in components.items() if component_id not in model_providers
    }
    for target in steps.values():
        needs = {name: cost for name, cost in target.needs.items() if (target.id, name) not in fed}
        for port in target.inputs:
            if port.name in needs and needs[port.name] != OPEN_MODEL_COST:
                options = tuple(_feeders(steps, target, port))
                yield Slot(options, needs[port.name], target.id)
        for port in target.feedback:
            if not any(
                edge.is_feedback and (edge.target, edge.target_port) == (target.id, port.name) for edge in edges
            ):
                yield Slot(tuple(_feeders(steps, target, port)), OPEN_MAIN_COST, target.id)


def _only_provides_model(component: Component, edges: Sequence[Edge]) -> bool:
    """Say whether a component only provides its model to others and needs no input."""
    leaving = [edge for edge in edges if edge.source == component.id]
    models = {port.name for port in component.model_outputs}
    return bool(leaving) and all(edge.source_port in models for edge in leaving)


def _feeders(components: dict[str, Component], target: Component, port: Port) -> Iterator[Option]:
    for source in components.values():
        if source.id == target.id or source.is_sink or source.node.tool_mode:
            continue
        for output, cost in output_costs(source):
            if types_compatible(output.types, port.types) and "LanguageModel" not in output.types:
                cost += pair_cost(source, output, target, port)
                yield Option(source.id, output.name, target.id, port.name, port.is_feedback, cost)


def _need_fault(slot: Slot, _at: int, options: list[Option]) -> Fault | None:
    if not options:
        return None
    first = options[0]
    if slot.is_mode:
        message = f"{slot.owner} could be a tool of an agent, or a step of the flow."
        return Fault(code="ambiguous_edge", message=message, fix=write_one(options), node=slot.owner)
    names = ", ".join(f"{option.source}.{option.output}" for option in options[:6])
    message = f"{first.target}.{first.input} could be fed by {names}."
    return Fault(code="ambiguous_edge", message=message, fix=write_one(options), node=first.target, port=first.input)
