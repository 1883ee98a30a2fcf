"""Applying a fragment of a spec to a flow: all of it, or nothing with every reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from flows import edits
from flows.actions import FlowAction
from flows.autowire.partial_edges import Link, complete
from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Json, Node
from flows.edits.new_nodes import new_node
from flows.edits.node_ids import new_node_id
from flows.edits.references import find_component
from flows.edits.result import Edit, EditError
from flows.faults import Fault, did_you_mean
from flows.spec.fragment import Fragment, parse_fragment
from flows.spec.names import display_name
from flows.spec.parse import SpecEdge, SpecNode, SpecValue
from flows.spec.values import value_text

_PLAIN_ID = re.compile(r"[^\s.:>#\"'|\-][^.:>#\"'|]*")


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A fragment that was applied.

    Attributes:
        edit: the flow, and one action a change.
        ids: ids of the new components by the fragment's ids.
        removals: the components that were removed or replaced, one each, and pairs whose connection was removed, unless
            the one still leads to the other.
        replaced: connections that gave way to a new one into the same input.
    """

    edit: Edit
    ids: Mapping[str, str]
    removals: tuple[tuple[str, ...], ...] = ()
    replaced: tuple[str, ...] = ()


def patch(flow: Flow, text: str, catalogue: Catalogue, names: Mapping[str, str] | None = None) -> Patch:
    """Apply a fragment to a flow; connections and components are removed first, connections made last.

    A component is named by its id, by one of `names`, or by a display name or type that no other has. A new
    component's id becomes its display name. A connection into an input that takes only one replaces the old one.

    Args:
        flow: the flow.
        text: the fragment, see `flows.spec.fragment`.
        catalogue: the component types.
        names: ids by other names.

    Raises:
        EditError: a line is not valid; every fault is named, with the fragment's ids and lines.
    """
    hidden = {node.id: f"node_{at}" for at, node in enumerate(flow.nodes) if not _PLAIN_ID.fullmatch(node.id)}
    for node_id, alias in hidden.items():
        text = re.sub(rf"(?m)(^\s*(?:- )?|>\s*){re.escape(node_id)}(?=\s*(?:[.:>=→-]|$))", rf"\g<1>{alias}", text)
    fragment, faults = parse_fragment(text)
    known = {**(names or {}), **{alias: node_id for node_id, alias in hidden.items()}}
    patcher = _Patcher(flow, fragment, catalogue, known, list(faults))
    patcher.run()
    if patcher.faults:
        raise EditError(*sorted(patcher.faults, key=lambda fault: fault.line or 0))
    return patcher.patch()


@dataclass
class _Patcher:
    flow: Flow
    fragment: Fragment
    catalogue: Catalogue
    names: Mapping[str, str]
    faults: list[Fault]
    actions: list[FlowAction] = field(default_factory=list[FlowAction])
    lost: list[str] = field(default_factory=list[str])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    written: dict[str, str] = field(default_factory=dict[str, str])
    failed: set[str] = field(default_factory=set[str])
    unreliable: set[str] = field(default_factory=set[str])
    removals: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    replaced: list[str] = field(default_factory=list[str])
    made: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def run(self) -> None:
        values: dict[str, dict[str, SpecValue]] = {}
        for value in self.fragment.spec.values:
            values.setdefault(value.node, {})[value.field] = value
        for cut in self.fragment.cut:
            self._disconnect(cut)
        for gone in self.fragment.removed:
            self._remove(gone.node, gone.line)
        for node in self.fragment.spec.nodes:
            self._put(node, values.pop(node.id, {}))
        for name, given in values.items():
            self._configure(name, given)
        for named in self.fragment.names:
            node = self._find(named.node, named.line)
            if node is not None:
                self._do(lambda node=node, to=named.name: edits.rename(self.flow, node.id, to), named.line)
        links = [link for edge in self.fragment.spec.edges if (link := self._connect(edge)) is not None]
        self._complete(links)

    def patch(self) -> Patch:
        edit = Edit(self.flow, tuple(self.actions), tuple(self.lost))
        removals = tuple(group for group in self.removals if len(group) == 1 or not self._still_leads(*group))
        return Patch(edit=edit, ids=self.ids, removals=removals, replaced=tuple(self.replaced))

    def _still_leads(self, source: str, target: str) -> bool:
        """Whether one component still leads to another, through others: something was put in between."""
        reached, ahead = set[str](), [source]
        while ahead:
            found = {edge.target for edge in self.flow.edges if edge.source in ahead} - reached
            reached |= found
            ahead = list(found)
        return target in reached

    def _do(self, make: Callable[[], Edit], line: int) -> bool:
        """Make an edit, or record why it cannot be made."""
        try:
            made = make()
        except EditError as error:
            self.faults += [self._as_written(fault, line) for fault in error.faults]
            return False
        self.flow = made.flow
        self.actions += made.actions
        self.lost += made.lost
        return True

    def _as_written(self, fault: Fault, line: int) -> Fault:
        """The fault with the fragment's line and names."""
        message, fix, node = fault.message, fault.fix, fault.node
        for node_id, name in self.written.items():
            message, fix = message.replace(node_id, name), fix.replace(node_id, name)
            node = name if node == node_id else node
        return replace(fault, message=message, fix=fix, node=node, line=line)

    def _find(self, name: str, line: int) -> Node | None:
        """The component that is meant; None after recording that there is none, or when its own line has failed."""
        if name in self.failed:
            return None
        node = self.flow.node(self.ids.get(name, "")) or find_component(self.flow, name, self.names)
        if node is not None and not node.is_note:
            self.written.setdefault(node.id, name)
            return node
        known = [*self.ids, *(node.id for node in self.flow.components)]
        same = [node.id for node in self.flow.components if name in (node.display_name, node.type)]
        message = f"There is no component {name!r} on the canvas, nor under `nodes:`."
        fix = did_you_mean(name, known, otherwise="there are") if known else "Add it under `nodes:`."
        if same:
            message, fix = f"{name!r} names {len(same)} components.", f"Name one by its id: {', '.join(same)}."
        self.faults.append(Fault(code="unknown_node", message=message, fix=fix, node=name, line=line))
        return None

    def _disconnect(self, cut: SpecEdge) -> None:
        source, target = self._find(cut.source, cut.line), self._find(cut.target, cut.line)
        if source is None or target is None:
            return
        ends = (source.id, cut.source_port, target.id, cut.target_port)
        if self._do(lambda: edits.disconnect(self.flow, *ends), cut.line):
            self.removals.append((source.id, target.id))

    def _remove(self, name: str, line: int) -> None:
        node = self._find(name, line)
        if node is not None and self._do(lambda: edits.remove_component(self.flow, node.id), line):
            self.removals.append((node.id,))

    def _put(self, line: SpecNode, values: dict[str, SpecValue]) -> None:
        """Add a component, or replace the one with this id by one of this type."""
        component = self.catalogue.find(line.type)
        old = self.flow.node(line.id) or self.flow.node(self.names.get(line.id, ""))
        given: dict[str, Json] = {}
        if component is not None:
            blank = new_node(component, line.id)
            given = {name: value_text(blank, value) for name, value in values.items()}
        if old is not None:
            index = self.flow.nodes.index(old)
            done = self._do(
                lambda: edits.replace_component(self.flow, self.catalogue, old.id, line.type, values=given), line.line
            )
            if done:
                self.removals.append((old.id,))
                self._added(line.id, self.flow.nodes[index].id)
            return
        taken = {node.id for node in self.flow.nodes}
        if component is not None and line.id.startswith(f"{component.type}-"):
            fresh = line.id
        else:
            fresh = new_node_id(line.type if component is None else component.type, line.id, taken)
        name = None if component is None else display_name(line.id, component)
        self.written[fresh] = line.id
        add = partial(edits.add_component, catalogue=self.catalogue, type=line.type, node_id=fresh, name=name)
        if component is None:
            self._do(lambda: add(self.flow), line.line)
            self.failed.add(line.id)
            return
        first = min((value.line for value in values.values()), default=line.line)
        if not self._do(lambda: add(self.flow, values=given), first):
            # It is added without its values, so that connections of it are checked, too.
            self._do(lambda: add(self.flow), line.line)
            self.unreliable.add(fresh)
        self._added(line.id, fresh)

    def _added(self, name: str, node_id: str) -> None:
        self.ids[name] = node_id
        self.written[node_id] = name

    def _configure(self, name: str, given: Mapping[str, SpecValue]) -> None:
        line = min(value.line for value in given.values())
        node = self._find(name, line)
        if node is not None:
            values: dict[str, Json] = {key: value_text(node, value) for key, value in given.items()}
            if not self._do(lambda: edits.configure(self.flow, self.catalogue, node.id, values), line):
                self.unreliable.add(node.id)

    def _connect(self, edge: SpecEdge) -> Link | None:
        """Make a connection, or return it when ports have to be inferred first."""
        source, target = self._find(edge.source, edge.line), self._find(edge.target, edge.line)
        if source is None or target is None:
            return None
        if edge.source_port is None or edge.target_port is None:
            return Link(source.id, edge.source_port, target.id, edge.target_port, edge.line)
        self._join(source.id, edge.source_port, target.id, edge.target_port, edge.line)
        return None

    def _join(self, source: str, output: str, target: str, into: str, line: int) -> None:
        if any(
            (edge.source, edge.source_port, edge.target, edge.target_port) == (source, output, target, into)
            for edge in self.flow.edges
        ):
            self.made.add((target, into))
            return
        try:
            edits.connect(self.flow, self.catalogue, source, output, target, into)
        except EditError as error:
            taken = any(fault.code == "input_taken" for fault in error.faults) and (target, into) not in self.made
            old = next((edge for edge in self.flow.edges if (edge.target, edge.target_port) == (target, into)), None)
            if taken and old is not None:
                self._give_way(old, line)
        known = len(self.faults)
        if self._do(lambda: edits.connect(self.flow, self.catalogue, source, output, target, into), line):
            self.made.add((target, into))
        elif target in self.unreliable and self.faults[known].code == "unknown_input":
            del self.faults[known:]  # it may follow from a template that was not set

    def _give_way(self, old: Edge, line: int) -> None:
        ends = (old.source, old.source_port, old.target, old.target_port)
        if self._do(lambda: edits.disconnect(self.flow, *ends), line):
            self.removals.append((old.source, old.target))
            self.replaced.append(old.text)

    def _complete(self, links: list[Link]) -> None:
        if not links:
            return
        wiring = complete(list(self.flow.components), list(self.flow.edges), links, self.catalogue, self.written)
        lines = {(link.source, link.target): link.line or 0 for link in links}
        for option in wiring.options:
            line = lines[option.source, option.target]
            self._join(option.source, option.output, option.target, option.input, line)
        self.faults += [self._as_written(fault, fault.line or 0) for fault in wiring.faults]
