"""The calls of edit tools that turn a flow into the right one, computed with the flow layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from evals.oracles.matching import match
from evals.oracles.scored_flow import same_value, scored_flow
from evals.players.player import Unplayable
from flows import edits
from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Json, Node
from flows.edits import Edit, EditError
from flows.fields.model_values import CONNECTED
from flows.json_values import as_object


@dataclass(frozen=True)
class ToolCall:
    """One call to make: a tool and its arguments."""

    tool: str
    arguments: Mapping[str, JsonValue]


def edit_calls(current: Flow, target: Flow, catalogue: Catalogue) -> list[ToolCall]:
    """The calls that turn one flow into another.

    Args:
        target: the reference flow; nodes with the same id and type are the same, others are matched by their content.

    Raises:
        Unplayable: the edits of the flow layer do not lead there.
    """
    return _planned(current, target, catalogue).calls


def edited(current: Flow, target: Flow, catalogue: Catalogue) -> Flow:
    """A flow edited into another one: what stays keeps everything that the other does not change.

    Args:
        target: the reference flow, as for `edit_calls`.

    Raises:
        Unplayable: the edits of the flow layer do not lead there.
    """
    return _planned(current, target, catalogue).flow


def _planned(current: Flow, target: Flow, catalogue: Catalogue) -> _Planner:
    planner = _Planner(current, target, catalogue)
    planner.disconnect()
    planner.remove()
    planner.configure()
    planner.add()
    planner.connect()
    planner.rename()
    return planner


@dataclass
class _Planner:
    flow: Flow
    target: Flow
    catalogue: Catalogue
    calls: list[ToolCall] = field(default_factory=list[ToolCall])

    def __post_init__(self) -> None:
        self.ids = _same_nodes(self.target, self.flow, self.catalogue)

    def do(self, make: Callable[[], Edit], tool: str, **arguments: JsonValue) -> None:
        """Make an edit; if it changes anything, record its call and continue with the resulting flow."""
        try:
            made = make()
        except EditError as error:
            raise Unplayable("; ".join(fault.message for fault in error.faults)) from None
        if made.actions:
            self.flow = made.flow
            self.calls.append(ToolCall(tool, arguments))

    def disconnect(self) -> None:
        wanted = {self._ends(edge) for edge in self.target.edges}
        kept = set(self.ids.values())
        for edge in self.flow.edges:
            ends = (edge.source, edge.source_port, edge.target, edge.target_port)
            if ends in wanted or not {edge.source, edge.target} <= kept:
                continue
            self.do(
                lambda ends=ends: edits.disconnect(self.flow, *ends),
                "disconnect_components",
                source_id=edge.source,
                target_id=edge.target,
                source_output=edge.source_port,
                target_input=edge.target_port,
            )

    def remove(self) -> None:
        kept = set(self.ids.values())
        for node in self.flow.components:
            if node.id not in kept:
                self.do(
                    lambda node=node: edits.remove_component(self.flow, node.id),
                    "remove_component",
                    component_id=node.id,
                )

    def configure(self) -> None:
        for node in self.target.components:
            here = self.flow.node(self.ids.get(node.id, ""))
            if here is None:
                continue
            values = self._values(node, lambda name, here=here: as_object(here.field(name)).get("value"))
            if values:
                self.do(
                    lambda here=here, values=values: edits.configure(self.flow, self.catalogue, here.id, values),
                    "configure_component",
                    component_id=here.id,
                    values=dict(values),
                )

    def add(self) -> None:
        for node in self.target.components:
            if node.id in self.ids:
                continue
            kind = self.catalogue.get(node.type)
            if kind is None:
                raise Unplayable(f"there is no component type {node.type}")
            values = self._values(node, lambda name, kind=kind: as_object(kind.template.get(name)).get("value"))
            before = {other.id for other in self.flow.nodes}
            self.do(
                lambda node=node, v=values: edits.add_component(self.flow, self.catalogue, node.type, values=v),
                "add_component",
                type=node.type,
                **({"values": dict(values)} if values else {}),
            )
            self.ids[node.id] = next(other.id for other in self.flow.nodes if other.id not in before)

    def connect(self) -> None:
        for edge in self.target.edges:
            source, output, target, into = self._ends(edge)
            there = {(e.source, e.source_port, e.target, e.target_port) for e in self.flow.edges}
            if (source, output, target, into) in there:
                continue
            self.do(
                lambda e=(source, output, target, into): edits.connect(self.flow, self.catalogue, *e),
                "connect_components",
                source_id=source,
                source_output=output,
                target_id=target,
                target_input=into,
            )

    def rename(self) -> None:
        for node in self.target.components:
            here = self.flow.node(self.ids[node.id])
            if here is not None and here.display_name != node.display_name:
                self.do(
                    lambda here=here, node=node: edits.rename(self.flow, here.id, node.display_name),
                    "rename_component",
                    component_id=here.id,
                    name=node.display_name,
                )

    def _ends(self, edge: Edge) -> tuple[str, str, str, str]:
        source, target = self.ids.get(edge.source, edge.source), self.ids.get(edge.target, edge.target)
        return source, edge.source_port, target, edge.target_port

    def _values(self, node: Node, before: Callable[[str], Json]) -> dict[str, Json]:
        """The values of a node in the reference flow that differ from those before; templates come first."""
        connected = {edge.target_port for edge in self.target.edges if edge.target == node.id}
        found: dict[str, Json] = {}
        names = sorted(node.template, key=lambda name: node.template[name].get("type") not in {"prompt", "mustache"})
        for name in names:
            spec = node.template[name]
            value, old = spec.get("value"), before(name)
            if name == "code" or name in connected or value == CONNECTED or spec.get("show") is False:
                continue
            if not same_value(value, old):
                found[name] = "" if value is None else value
        return found


def _same_nodes(target: Flow, current: Flow, catalogue: Catalogue) -> dict[str, str]:
    types = {node.id: node.type for node in current.components}
    ids = {node.id: node.id for node in target.components if types.get(node.id) == node.type}
    here, there = scored_flow(current, catalogue), scored_flow(target, catalogue)
    return {**ids, **match(there.without(ids), here.without(ids))}
