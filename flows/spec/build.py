"""Building a flow from spec text; types, values, edges and structure are checked, and all faults reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from flows.autowire.decisions import Wiring
from flows.autowire.inference import derive
from flows.autowire.partial_edges import Link, complete
from flows.catalogue import Catalogue
from flows.checks import check
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge, Flow, Node
from flows.edits.new_nodes import new_node
from flows.edits.node_ids import new_node_id
from flows.faults import Fault, did_you_mean, suggest
from flows.gc_pause import collection_paused
from flows.json_values import Json
from flows.layout.tidy import laid_out
from flows.ports import PortError, selected_output_changes, wire, with_changes
from flows.spec.parse import Spec, SpecEdge, SpecValue, parse
from flows.spec.values import with_values

_LATER = frozenset({"missing_model", "missing_input", "no_output", "empty_flow", "needs_package", "needs_service"})


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """The result of building a spec: the flow (None if a fault is an error), all faults, and spec ids to node ids."""

    flow: Flow | None
    faults: tuple[Fault, ...]
    ids: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether there is a flow."""
        return self.flow is not None


def build(text: str, catalogue: Catalogue) -> BuildResult:
    """Build the flow that spec text describes.

    Values are set before edges are made, so the variables of a template can be connected. If a spec omits its edges, or
    an edge omits its ports, they are inferred from types and roles (`flows.autowire`). The flow has the form that
    Langflow's builder produces; node ids are derived from the spec's ids and types, so equal specs give equal flows.

    Args:
        text: the spec.
        catalogue: the component types.
    """
    spec, faults = parse(text)
    return build_spec(spec, catalogue, faults)


def build_spec(spec: Spec, catalogue: Catalogue, faults: tuple[Fault, ...] = ()) -> BuildResult:
    """Build the flow of a parsed spec; `faults` are those of its text."""
    with collection_paused():
        builder = _Builder(spec, catalogue, derives=not any(fault.code == "bad_edge" for fault in faults))
        found = (*faults, *builder.run())
        ordered = tuple(sorted(found, key=lambda fault: fault.line or 0))
        flow = None if any(fault.is_error for fault in ordered) else builder.flow()
        return BuildResult(flow=flow, faults=ordered, ids=builder.ids)


class _Builder:
    def __init__(self, spec: Spec, catalogue: Catalogue, *, derives: bool) -> None:
        self.spec = spec
        self.derives = derives
        self.catalogue = catalogue
        self.ids: dict[str, str] = {}
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.leaving: dict[str, list[Edge]] = {}
        self.entering: dict[str, list[Edge]] = {}
        self.lines = {node.id: node.line for node in spec.nodes}
        self.faults: list[Fault] = []
        self.wired: dict[str, set[str]] = {}
        self.lost: set[tuple[str, str | None]] = set()
        self.unreliable: set[str] = set()

    def run(self) -> list[Fault]:
        self._add_nodes()
        self._set_values()
        links = [edge for edge in self.spec.edges if not self._add_edge(edge)]
        if links:
            self._add_links(links)
        elif not self.spec.edges and self.derives:
            self._add_wiring(derive(list(self.nodes.values()), (), self.catalogue, self._names))
        self._check_structure()
        return self.faults

    def flow(self) -> Flow:
        return laid_out(self._unplaced)

    @cached_property
    def _unplaced(self) -> Flow:
        """The flow with all nodes and edges, before its layout."""
        nodes: list[Json] = [node.raw for node in self.nodes.values()]
        flow = Flow.empty(self.spec.name, self.spec.description)
        flow = flow.with_parts(nodes=nodes, edges=[edge.raw for edge in self.edges])
        return flow.with_views(self.nodes.values(), self.edges)

    def _add_nodes(self) -> None:
        taken: set[str] = set()
        for node in self.spec.nodes:
            component = self.catalogue.find(node.type)
            if component is None:
                hint = suggest(self.catalogue.nearest(node.type)) or "Search for a suitable one."
                message = f"There is no component type {node.type!r}."
                self.faults.append(Fault(code="unknown_type", message=message, fix=hint, node=node.id, line=node.line))
                continue
            node_id = new_node_id(component.type, node.id, taken)
            taken.add(node_id)
            self.ids[node.id] = node_id
            self.nodes[node.id] = new_node(component, node_id)

    def _set_values(self) -> None:
        grouped: dict[str, dict[str, SpecValue]] = {}
        for value in self.spec.values:
            if value.node not in self.lines:
                self._unknown_id(value.node, value.line, "field", value.field)
            elif value.node in self.nodes:
                grouped.setdefault(value.node, {})[value.field] = value
        for spec_id, values in grouped.items():
            node = self.nodes[spec_id]
            outcome = with_values(node, values, self.catalogue.get(node.type))
            self.nodes[spec_id] = outcome.node
            for fault in (*outcome.faults, *outcome.warnings):
                line = values[fault.field].line if fault.field in values else self.lines[spec_id]
                self._report(fault, line)
            if any(node.field(fault.field or "") is not None for fault in outcome.faults):
                # Variables of the template may be missing now, so edges into them are not checked.
                self.unreliable.add(spec_id)

    def _add_edge(self, edge: SpecEdge) -> bool:
        """Add an edge, or report why not; False if its ports have to be inferred first."""
        unknown = [end for end in dict.fromkeys((edge.source, edge.target)) if end not in self.lines]
        for end in unknown:
            self._unknown_id(end, edge.line, "port", edge.source_port if end == edge.source else edge.target_port)
        for end in (edge.source, edge.target):
            self.wired.setdefault(end, set())
        if edge.source not in self.nodes or edge.target not in self.nodes:
            self.lost.add((edge.target, edge.target_port))
            return True
        if edge.source_port is None or edge.target_port is None:
            return False
        self._connect(edge.source, edge.source_port, edge.target, edge.target_port, edge.line)
        return True

    def _add_links(self, edges: Sequence[SpecEdge]) -> None:
        links = [
            Link(self.ids[edge.source], edge.source_port, self.ids[edge.target], edge.target_port, edge.line)
            for edge in edges
        ]
        wiring = complete(list(self.nodes.values()), self.edges, links, self.catalogue, self._names)
        made = {(option.source, option.target) for option in wiring.options}
        self.lost |= {
            (edge.target, edge.target_port)
            for edge in edges
            if (self.ids[edge.source], self.ids[edge.target]) not in made
        }
        lost = {self.ids[spec_id] for spec_id in self.unreliable}
        self._add_wiring(replace(wiring, faults=tuple(fault for fault in wiring.faults if fault.node not in lost)))

    @property
    def _names(self) -> dict[str, str]:
        return {node_id: spec_id for spec_id, node_id in self.ids.items()}

    def _add_wiring(self, wiring: Wiring) -> None:
        spec_ids = self._names
        for option in wiring.options:
            source, target = spec_ids[option.source], spec_ids[option.target]
            self._connect(source, option.output, target, option.input, self.lines[target])
        for fault in wiring.faults:
            line = fault.line or self.lines.get(spec_ids.get(fault.node or "", ""))
            self._report(fault, line)

    def _connect(self, source_id: str, output: str, target_id: str, field: str, line: int) -> None:
        source, target = self.nodes[source_id], self.nodes[target_id]
        self.wired.setdefault(source_id, set())
        self.wired.setdefault(target_id, set())
        try:
            near = (*self.leaving.get(source_id, ()), *self.entering.get(target_id, ()))
            made = wire(source, output, target, field, near, self.catalogue)
        except PortError as error:
            self.lost.add((target_id, field))
            if error.fault.code == "unknown_input" and target_id in self.unreliable:
                return
            severity = "warning" if error.fault.code == "duplicate_edge" else error.fault.severity
            self._report(replace(error.fault, severity=severity), line)
            return
        added = Edge(made.edge)
        self.edges.append(added)
        self.leaving.setdefault(source_id, []).append(added)
        self.entering.setdefault(target_id, []).append(added)
        used = self.wired[source_id]
        used.add(output)
        source = with_changes(source, made.tool_changes)
        if output != TOOL_OUTPUT:
            source = with_changes(source, selected_output_changes(source, used))
        self.nodes[source_id] = source

    def _check_structure(self) -> None:
        undecided = any(fault.code == "ambiguous_edge" for fault in self.faults)
        if len(self.spec.nodes) > 1 and not undecided:
            for node in self.spec.nodes:
                if node.id not in self.wired:
                    message = f"{node.id} ({node.type}) is not connected to anything."
                    fix = "Add an edge to or from it, or remove it."
                    self.faults.append(Fault(code="orphan", message=message, fix=fix, node=node.id, line=node.line))
        if not self.nodes:
            return
        reported = {(fault.code, fault.node, fault.port or fault.field) for fault in self.faults}
        spec_ids = self._names
        for fault in check(self._unplaced, self.catalogue):
            spec_id = spec_ids.get(fault.node or "", "")
            if fault.code == "orphan" or (undecided and fault.code == "missing_input"):
                continue
            if self._follows(fault, spec_id):
                continue
            if (fault.code, spec_id, fault.port or fault.field) in reported:
                continue
            # Missing values and choices do not prevent a flow from being built.
            severity = "warning" if fault.code in _LATER else fault.severity
            self._report(replace(fault, severity=severity), self.lines.get(spec_id))

    def _follows(self, fault: Fault, spec_id: str) -> bool:
        """Say whether a fault only follows from a node or an edge that could not be made and is already reported."""
        if fault.code in ("unreachable", "loop_border"):
            return bool(self.lost)
        if fault.code == "no_output":
            return len(self.nodes) < len(self.lines)
        if fault.code == "open_loop":
            return any(target == spec_id for target, _ in self.lost)
        if fault.code == "missing_input":
            return not self.lost.isdisjoint({(spec_id, fault.port or fault.field), (spec_id, None)})
        return False

    def _unknown_id(self, spec_id: str, line: int, kind: str, name: str | None) -> None:
        message = f"There is no node {spec_id!r} under `nodes:`."
        fix = did_you_mean(spec_id, list(self.lines), otherwise="the nodes are")
        port, field = (name, None) if kind == "port" else (None, name)
        self.faults.append(
            Fault(code="unknown_node", message=message, fix=fix, node=spec_id, port=port, field=field, line=line)
        )

    def _report(self, fault: Fault, line: int | None) -> None:
        """Record a fault with the spec's ids."""
        message, fix, node = fault.message, fault.fix, fault.node
        for spec_id, node_id in self.ids.items():
            message, fix = message.replace(node_id, spec_id), fix.replace(node_id, spec_id)
            node = spec_id if node == node_id else node
        self.faults.append(replace(fault, message=message, fix=fix, node=node, line=line))
