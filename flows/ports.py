"""Ports: the outputs and inputs of a node, which may be connected, and how Langflow writes the edge between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flows.actions import NodeChange, change_raw
from flows.component_type import TOOL_OUTPUT, TYPE_MIGRATIONS, ComponentTypes, can_be_tool
from flows.document import Edge, Node
from flows.faults import Fault, did_you_mean, display_name_hint
from flows.fields.dynamic.rules import choice_giving, choice_showing, condition
from flows.json_values import MISSING, Json, JsonObject, as_object, as_text, texts

_HANDLES = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_TABLE_LIKE = frozenset({"Data", "JSON", "DataFrame", "Table"})
_TOOL_OUTPUT: JsonObject = {
    "allows_loop": False,
    "cache": True,
    "display_name": "Toolset",
    "group_outputs": False,
    "hidden": False,
    "method": "to_toolkit",
    "name": TOOL_OUTPUT,
    "options": None,
    "required_inputs": None,
    "selected": "Tool",
    "tool_mode": True,
    "types": ["Tool"],
    "value": "__UNDEFINED__",
}


@dataclass(frozen=True, kw_only=True)
class Port:
    """One end of a connection: an output, an input field, or an output that accepts a loop's feedback."""

    name: str
    types: tuple[str, ...]
    is_list: bool = False
    required: bool = False
    is_feedback: bool = False
    field_type: str = ""


class PortError(ValueError):
    """A connection that is not allowed; `fault` says why, and what to do instead."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.message} {fault.fix}".strip())
        self.fault = fault


def types_compatible(output_types: Iterable[str], input_types: Iterable[str]) -> bool:
    """Say whether any output type is an accepted input type; `Data` is `JSON` and `DataFrame` is `Table`."""
    accepted = {TYPE_MIGRATIONS.get(name, name) for name in input_types}
    return any(TYPE_MIGRATIONS.get(name, name) in accepted for name in output_types)


def output_ports(node: Node) -> list[Port]:
    """Return the outputs of the node."""
    return [
        Port(name=as_text(output.get("name")), types=tuple(texts(output.get("types"))))
        for output in node.outputs
        if output.get("name")
    ]


def input_ports(node: Node) -> list[Port]:
    """Return the inputs that accept an edge: fields with input types."""
    found: list[Port] = []
    for name, field in node.template.items():
        types = texts(field.get("input_types"))
        if types:
            found.append(_input_port(name, field, types))
    return found


def feedback_ports(node: Node) -> list[Port]:
    """Return the outputs that close a loop, which accept an edge."""
    found: list[Port] = []
    for output in node.outputs:
        if output.get("allows_loop") and output.get("name"):
            types = texts(output.get("types"))
            selected = as_text(output.get("selected")) or (types[0] if types else "Message")
            accepted = (selected, *texts(output.get("loop_types")))
            found.append(Port(name=as_text(output.get("name")), types=accepted, is_feedback=True))
    return found


def supports_tool_mode(node: Node, catalogue: ComponentTypes | None = None) -> bool:
    """Say whether the node can be a tool, according to its definition or to the catalogue."""
    if can_be_tool(node.definition):
        return True
    component = catalogue.get(node.type) if catalogue is not None else None
    return component is not None and component.can_be_tool


def find_output(node: Node, name: str, catalogue: ComponentTypes | None = None) -> Port:
    """Return the output called `name`; `component_as_tool` exists on every node that can be a tool.

    Raises:
        PortError: there is no such output.
    """
    if name == TOOL_OUTPUT:
        if not supports_tool_mode(node, catalogue):
            names = ", ".join(port.name for port in output_ports(node)) or "none"
            message = f"{node.id} ({node.type}) cannot be a tool."
            raise PortError(_fault("not_a_tool", message, f"Connect one of its outputs: {names}.", node, port=name))
        return Port(name=TOOL_OUTPUT, types=("Tool",))
    for output in node.outputs:
        if name and output.get("name") == name:
            return Port(name=name, types=tuple(texts(output.get("types"))))
    names = [port.name for port in output_ports(node)]
    seen = display_name_hint(
        name, ((as_text(out.get("name")), as_text(out.get("display_name"))) for out in node.outputs)
    )
    fix = seen or did_you_mean(name, names, otherwise="its outputs are")
    found = choice_giving(_choices(node, catalogue), node, name)
    if found is not None:
        fix = f"It has that output when {condition(found)}: set {node.id}.{found[0]}."
    elif node.tool_mode:
        fix = f"It is used as a tool, so its only output is {TOOL_OUTPUT}. Add a second one for use as a step."
    elif name in {port.name for port in input_ports(node)}:
        fix = f"{name!r} is an input. {fix}"
    raise PortError(_fault("unknown_output", f"{node.id} ({node.type}) has no output {name!r}.", fix, node, port=name))


def find_input(node: Node, name: str, catalogue: ComponentTypes | None = None) -> Port:
    """Return the input called `name`: a field that accepts an edge, or an output that accepts a loop's feedback.

    Raises:
        PortError: there is no such input, or the field accepts no edge.
    """
    field = node.field(name)
    if field:
        types = texts(field.get("input_types"))
        if types:
            return _input_port(name, field, types)
    for port in feedback_ports(node):
        if port.name == name:
            return port
    ports = [port.name for port in (*input_ports(node), *feedback_ports(node))]
    if field:
        message = f"{node.id}.{name} is a setting and takes no edge."
        fix = f"Set its value instead. The inputs of {node.id} are: {', '.join(ports) or 'none'}."
        raise PortError(_fault("not_an_input", message, fix, node, port=name))
    seen = display_name_hint(
        name, ((key, as_text(node.template[key].get("display_name"))) for key in ports if key in node.template)
    )
    fix = seen or did_you_mean(name, ports, otherwise="its inputs are")
    found = choice_showing(_choices(node, catalogue), node, name)
    if found is not None:
        fix = f"It has that input when {condition(found)}: set {node.id}.{found[0]}."
    elif any(item.get("type") == "prompt" for item in node.template.values()):
        fix += f" To make {name!r} an input, write {{{name}}} into the template."
    raise PortError(_fault("unknown_input", f"{node.id} ({node.type}) has no input {name!r}.", fix, node, port=name))


@dataclass(frozen=True)
class Wire:
    """An allowed edge, and what it changes in its source node."""

    edge: JsonObject
    tool_changes: tuple[NodeChange, ...] = ()


def wire(
    source: Node,
    output: str,
    target: Node,
    field: str,
    edges: Sequence[Edge] = (),
    catalogue: ComponentTypes | None = None,
) -> Wire:
    """Return the edge from `source.output` to `target.field`, as Langflow writes it.

    Args:
        source: the node it leaves.
        output: the name of its output; `component_as_tool` turns the node into a tool.
        target: the node it enters.
        field: the name of its input, or of an output that accepts a loop's feedback.
        edges: the existing edges, with which the new one must not conflict.
        catalogue: says which nodes without a tool declaration can be tools.

    Raises:
        PortError: the connection is not allowed.
    """
    if source.id == target.id:
        message = f"{source.id} cannot feed itself."
        fix = "Put another component in between, or use a LoopComponent to repeat a step."
        raise PortError(_fault("self_edge", message, fix, source, port=output))
    leaving, entering = find_output(source, output, catalogue), find_input(target, field, catalogue)
    if not types_compatible(leaving.types, entering.types):
        raise PortError(mismatch_fault(source, leaving, target, entering))
    _refuse_inactive(target, entering, catalogue)
    _refuse_duplicate(source, output, target, entering, edges)
    changes = tool_mode_changes(source) if output == TOOL_OUTPUT else ()
    used = next((e.source_port for e in edges if e.source == source.id and e.source_port != TOOL_OUTPUT), None)
    if changes and used is not None:
        message = f"{source.id} already feeds {used!r} on; as a tool it would lose that output."
        raise PortError(
            _fault("tool_in_use", message, f"Add a second {source.type} to use as a tool.", source, port=output)
        )
    return Wire(make_edge(source, leaving, target, entering), changes)


def make_edge(source: Node, leaving: Port, target: Node, entering: Port) -> JsonObject:
    """Return the edge between two ports, with handles byte for byte as Langflow writes them."""
    source_handle: JsonObject = {
        "dataType": source.type,
        "id": source.id,
        "name": leaving.name,
        "output_types": list[Json](leaving.types),
    }
    target_handle: JsonObject
    if entering.is_feedback:
        target_handle = {
            "dataType": target.type,
            "id": target.id,
            "name": entering.name,
            "output_types": list[Json](entering.types),
        }
    else:
        target_handle = {
            "fieldName": entering.name,
            "id": target.id,
            "inputTypes": list[Json](entering.types),
            "type": entering.field_type,
        }
    source_text, target_text = handle_text(source_handle), handle_text(target_handle)
    return {
        "animated": False,
        "className": "",
        "data": {"sourceHandle": source_handle, "targetHandle": target_handle},
        "id": f"reactflow__edge-{source.id}{source_text}-{target.id}{target_text}",
        "selected": False,
        "source": source.id,
        "sourceHandle": source_text,
        "target": target.id,
        "targetHandle": target_text,
    }


def handle_text(handle: JsonObject) -> str:
    """Return a handle as Langflow writes it into an edge: compact JSON with sorted keys, `œ` for every quote."""
    return _HANDLES.encode(handle).replace('"', "œ")


def tool_mode_changes(node: Node) -> tuple[NodeChange, ...]:
    """Return what turning the node into a tool changes in it; nothing if it already is one."""
    if node.tool_mode and any(output.get("name") == TOOL_OUTPUT for output in node.outputs):
        return ()
    place = ("data", "node")
    return (
        NodeChange((*place, "tool_mode"), node.definition.get("tool_mode", MISSING), new=True),
        NodeChange((*place, "outputs"), node.definition.get("outputs", MISSING), [_TOOL_OUTPUT]),
    )


def selected_output_changes(node: Node, used_outputs: Iterable[str]) -> tuple[NodeChange, ...]:
    """Return what selects the connected output of a node with several, which the canvas needs to keep the edge.

    Nothing, if edges use different outputs or the node shows all of its outputs at once.
    """
    wired = set(used_outputs)
    single = [output for output in node.outputs if not output.get("group_outputs")]
    if len(wired) != 1 or len(single) <= 1:
        return ()
    name = wired.pop()
    chosen = next((output for output in single if output.get("name") == name), None)
    if chosen is None:
        return ()
    changes: list[NodeChange] = []
    data = as_object(node.raw.get("data"))
    if data.get("selected_output") != name:
        changes.append(NodeChange(("data", "selected_output"), data.get("selected_output", MISSING), name))
    tab = as_object(node.field("output_type"))
    if tab.get("type") == "tab":
        types = texts(chosen.get("types"))
        fitting = next((option for option in texts(tab.get("options")) if option in types), None)
        others = [kind for output in single if output is not chosen for kind in texts(output.get("types"))]
        if fitting is not None and tab.get("value") != fitting and tab.get("value") in others:
            path = ("data", "node", "template", "output_type", "value")
            changes.append(NodeChange(path, tab.get("value"), fitting))
    return tuple(changes)


def with_changes(node: Node, changes: Sequence[NodeChange]) -> Node:
    """Return the node after `changes`; the same node if there are none."""
    return Node(change_raw(node.raw, changes, node.id)) if changes else node


def mismatch_fault(source: Node, leaving: Port, target: Node, entering: Port) -> Fault:
    """Return the fault of a connection whose types do not match, with the converter or port to use instead."""
    message = (
        f"{source.id}.{leaving.name} gives {'/'.join(leaving.types) or 'nothing'}, "
        f"but {target.id}.{entering.name} takes {'/'.join(entering.types)}."
    )
    return _fault("type_mismatch", message, _conversion(source, leaving, target, entering), target, port=entering.name)


def _input_port(name: str, field: JsonObject, types: list[str]) -> Port:
    return Port(
        name=name,
        types=tuple(types),
        is_list=bool(field.get("list")),
        required=bool(field.get("required")),
        field_type=as_text(field.get("type")) or "str",
    )


def _choices(node: Node, catalogue: ComponentTypes | None) -> Mapping[str, Json]:
    component = catalogue.get(node.type) if catalogue is not None else None
    return (component.choices if component is not None else None) or {}


def _refuse_inactive(target: Node, entering: Port, catalogue: ComponentTypes | None) -> None:
    """Refuse an edge into an input that is only used with an option that is not selected."""
    if entering.is_feedback or as_object(target.field(entering.name)).get("show") is not False:
        return
    found = choice_showing(_choices(target, catalogue), target, entering.name)
    if found is not None:
        message = f"{target.id}.{entering.name} only counts when {condition(found)}."
        fix = f"Set {target.id}.{found[0]}, or connect another input."
        raise PortError(_fault("inactive_input", message, fix, target, port=entering.name))


def _refuse_duplicate(source: Node, output: str, target: Node, entering: Port, edges: Sequence[Edge]) -> None:
    for edge in edges:
        if edge.target != target.id or edge.target_port != entering.name:
            continue
        if edge.source == source.id and edge.source_port == output:
            message = f"{source.id}.{output} is already connected to {target.id}.{entering.name}."
            raise PortError(_fault("duplicate_edge", message, "Leave it as it is.", target, port=entering.name))
        if not entering.is_list and edge.is_feedback == entering.is_feedback:
            message = (
                f"{target.id}.{entering.name} accepts one edge; {edge.source}.{edge.source_port} already feeds it."
            )
            fix = "Disconnect that edge first, or combine both in a component with two inputs."
            raise PortError(_fault("input_taken", message, fix, target, port=entering.name))


def _conversion(source: Node, leaving: Port, target: Node, entering: Port) -> str:
    gives, takes = set(leaving.types), set(entering.types)
    begin, end = f"{source.id}.{leaving.name}", f"{target.id}.{entering.name}"
    if "Message" in takes and gives & _TABLE_LIKE:
        return (
            f"Put a ParserComponent between: {begin} -> ParserComponent.input_data, "
            f"ParserComponent.parsed_text -> {end}."
        )
    converter = ""
    if takes & {"Data", "JSON"} and gives & (_TABLE_LIKE | {"Message"}):
        converter = "data_output"
    elif takes & {"DataFrame", "Table"} and gives & (_TABLE_LIKE | {"Message"}):
        converter = "dataframe_output"
    if converter:
        return (
            f"Put a TypeConverterComponent between: {begin} -> TypeConverterComponent.input_data, "
            f"TypeConverterComponent.{converter} -> {end}."
        )
    if "Tool" in takes:
        if supports_tool_mode(source):
            return f"Use {source.id} as a tool: {source.id}.{TOOL_OUTPUT} -> {end}."
        return f"Only tools fit here: connect {TOOL_OUTPUT} of a component that can be a tool."
    fitting = [port.name for port in output_ports(source) if types_compatible(port.types, entering.types)]
    if fitting:
        return f"Use another output: {source.id}.{fitting[0]} -> {end}."
    inputs = [port.name for port in input_ports(target) if types_compatible(leaving.types, port.types)]
    if inputs:
        return f"Use another input: {begin} -> {target.id}.{inputs[0]}."
    return f"Connect a component that gives {'/'.join(entering.types)}."


def _fault(code: str, message: str, fix: str, node: Node, *, port: str) -> Fault:
    return Fault(code=code, message=message, fix=fix, node=node.id, port=port)
