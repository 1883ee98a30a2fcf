"""Building a flow from spec text: types, values, edges and structure are judged, and all faults come in one go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flows.catalogue import Catalogue
from flows.checks import check
from flows.configure import Settings, settings
from flows.document import Edge, Flow, Node
from flows.faults import Fault, did_you_mean
from flows.ids import new_node_id
from flows.jsonvalues import Json, JsonObject
from flows.layout import layout
from flows.nodes import new_node
from flows.ports import TOOL_OUTPUT, PortError, selected_output_changes, wire, with_changes
from flows.spec.parse import Spec, SpecEdge, SpecValue, parse, without_comment

_LATER = frozenset({"missing_model", "missing_input", "no_output", "empty_flow"})


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """What became of a spec: the flow (None when a fault is an error), all faults, and spec ids to node ids."""

    flow: Flow | None
    faults: tuple[Fault, ...]
    ids: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether there is a flow."""
        return self.flow is not None


def build(text: str, catalogue: Catalogue) -> BuildResult:
    """Build the flow that spec text describes.

    Values are set before edges are made, so the variables of a template can be wired. The flow has the form that
    Langflow's own builder gives; the node ids follow from the spec's ids and types, so equal specs give equal flows.

    Args:
        text: the spec.
        catalogue: the component types.
    """
    spec, faults = parse(text)
    return build_spec(spec, catalogue, faults)


def build_spec(spec: Spec, catalogue: Catalogue, faults: tuple[Fault, ...] = ()) -> BuildResult:
    """Build the flow of a spec that was read already; `faults` are those of its text."""
    builder = _Builder(spec, catalogue)
    found = (*faults, *builder.run())
    ordered = tuple(sorted(found, key=lambda fault: fault.line or 0))
    flow = None if any(fault.is_error for fault in ordered) else builder.flow()
    return BuildResult(flow=flow, faults=ordered, ids=builder.ids)


class _Builder:
    def __init__(self, spec: Spec, catalogue: Catalogue) -> None:
        self.spec = spec
        self.catalogue = catalogue
        self.ids: dict[str, str] = {}
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.leaving: dict[str, list[Edge]] = {}
        self.entering: dict[str, list[Edge]] = {}
        self.lines = {node.id: node.line for node in spec.nodes}
        self.faults: list[Fault] = []
        self.wired: dict[str, set[str]] = {}
        self.unreliable: set[str] = set()

    def run(self) -> list[Fault]:
        self._add_nodes()
        self._set_values()
        for edge in self.spec.edges:
            self._add_edge(edge)
        self._judge_structure()
        return self.faults

    def flow(self) -> Flow:
        return layout(self._unplaced())

    def _unplaced(self) -> Flow:
        viewport: JsonObject = {"x": 0, "y": 0, "zoom": 1}
        nodes: list[Json] = [node.raw for node in self.nodes.values()]
        edges: list[Json] = [edge.raw for edge in self.edges]
        data: JsonObject = {"nodes": nodes, "edges": edges, "viewport": viewport}
        return Flow({"name": self.spec.name, "description": self.spec.description, "data": data})

    def _add_nodes(self) -> None:
        taken: set[str] = set()
        for node in self.spec.nodes:
            part = self.catalogue.get(node.type)
            if part is None:
                close = self.catalogue.nearest(node.type)
                hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "Search for one that fits."
                message = f"There is no component type {node.type!r}."
                self.faults.append(Fault(code="unknown_type", message=message, fix=hint, node=node.id, line=node.line))
                continue
            node_id = new_node_id(node.type, node.id, taken)
            taken.add(node_id)
            self.ids[node.id] = node_id
            self.nodes[node.id] = new_node(part, node_id)

    def _set_values(self) -> None:
        grouped: dict[str, dict[str, SpecValue]] = {}
        for value in self.spec.values:
            if value.node not in self.lines:
                self._unknown_id(value.node, value.line, "field", value.field)
            elif value.node in self.nodes:
                grouped.setdefault(value.node, {})[value.field] = value
        for spec_id, values in grouped.items():
            node = self.nodes[spec_id]
            outcome = _with_values(node, values)
            self.nodes[spec_id] = outcome.node
            for fault in outcome.faults:
                line = values[fault.field].line if fault.field in values else self.lines[spec_id]
                self._report(fault, line)
            if any(node.field(fault.field or "") is not None for fault in outcome.faults):
                # Fields that a template would have brought may be missing now; edges into them are not judged.
                self.unreliable.add(spec_id)

    def _add_edge(self, edge: SpecEdge) -> None:
        unknown = [end for end in dict.fromkeys((edge.source, edge.target)) if end not in self.lines]
        for end in unknown:
            self._unknown_id(end, edge.line, "port", edge.source_port if end == edge.source else edge.target_port)
        for end in (edge.source, edge.target):
            self.wired.setdefault(end, set())
        if edge.source not in self.nodes or edge.target not in self.nodes:
            return
        source, target = self.nodes[edge.source], self.nodes[edge.target]
        try:
            near = (*self.leaving.get(edge.source, ()), *self.entering.get(edge.target, ()))
            made = wire(source, edge.source_port, target, edge.target_port, near, self.catalogue)
        except PortError as error:
            if error.fault.code == "unknown_input" and edge.target in self.unreliable:
                return
            severity = "warning" if error.fault.code == "duplicate_edge" else error.fault.severity
            self._report(replace(error.fault, severity=severity), edge.line)
            return
        added = Edge(made.edge)
        self.edges.append(added)
        self.leaving.setdefault(edge.source, []).append(added)
        self.entering.setdefault(edge.target, []).append(added)
        used = self.wired[edge.source]
        used.add(edge.source_port)
        source = with_changes(source, made.tool_changes)
        if edge.source_port != TOOL_OUTPUT:
            source = with_changes(source, selected_output_changes(source, used))
        self.nodes[edge.source] = source

    def _judge_structure(self) -> None:
        if len(self.spec.nodes) > 1:
            for node in self.spec.nodes:
                if node.id not in self.wired:
                    message = f"{node.id} ({node.type}) is not connected to anything."
                    fix = "Add an edge to or from it, or remove it."
                    self.faults.append(Fault(code="orphan", message=message, fix=fix, node=node.id, line=node.line))
        if not self.spec.nodes:
            return
        reported = {(fault.code, fault.node, fault.port or fault.field) for fault in self.faults}
        spec_ids = {node_id: spec_id for spec_id, node_id in self.ids.items()}
        for fault in check(self._unplaced(), self.catalogue):
            spec_id = spec_ids.get(fault.node or "", "")
            if fault.code == "orphan" or (fault.code, spec_id, fault.port or fault.field) in reported:
                continue
            # What is still to be chosen or typed in does not keep a flow from being built.
            severity = "warning" if fault.code in _LATER else fault.severity
            self._report(replace(fault, severity=severity), self.lines.get(spec_id))

    def _unknown_id(self, spec_id: str, line: int, kind: str, name: str) -> None:
        message = f"There is no node {spec_id!r} under `nodes:`."
        fix = did_you_mean(spec_id, list(self.lines), otherwise="the nodes are")
        port, field = (name, None) if kind == "port" else (None, name)
        self.faults.append(
            Fault(code="unknown_node", message=message, fix=fix, node=spec_id, port=port, field=field, line=line)
        )

    def _report(self, fault: Fault, line: int | None) -> None:
        """Keep a fault, in the spec's own ids."""
        message, fix, node = fault.message, fault.fix, fault.node
        for spec_id, node_id in self.ids.items():
            message, fix = message.replace(node_id, spec_id), fix.replace(node_id, spec_id)
            node = spec_id if node == node_id else node
        self.faults.append(replace(fault, message=message, fix=fix, node=node, line=line))


def _with_values(node: Node, values: Mapping[str, SpecValue]) -> Settings:
    texts: dict[str, Json] = {name: value.text for name, value in values.items()}
    outcome = settings(node, texts)
    for fault in outcome.faults:
        value = values.get(fault.field or "")
        if value is not None and not value.literal and without_comment(value.text) != value.text:
            texts[value.field] = without_comment(value.text)
    if any(texts[name] != value.text for name, value in values.items()):
        outcome = settings(node, texts)
    if outcome.faults:
        # What is valid is set all the same, so that edges are judged against the variables that templates bring.
        bad = {fault.field for fault in outcome.faults}
        rest = settings(node, {name: text for name, text in texts.items() if name not in bad})
        return replace(outcome, node=rest.node)
    return outcome
