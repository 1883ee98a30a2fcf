"""Summaries of a flow: its inputs and outputs, and a short description of the canvas."""

from __future__ import annotations

from dataclasses import dataclass

from flows.catalogue import Catalogue
from flows.describe.texts import set_texts, shortened
from flows.document import Flow, Node
from flows.json_values import JsonObject, texts
from flows.ports import feedback_ports, input_ports

EMPTY_CANVAS = "(empty canvas)"


@dataclass(frozen=True, kw_only=True)
class IOPort:
    """An input or output of the flow."""

    node: str
    type: str
    name: str
    types: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the port as a JSON object."""
        return {"node": self.node, "type": self.type, "name": self.name, "types": [*self.types]}


@dataclass(frozen=True, kw_only=True)
class FlowIO:
    """The inputs of a flow (of nodes that nothing feeds) and its outputs (of nodes that feed nothing)."""

    inputs: tuple[IOPort, ...]
    outputs: tuple[IOPort, ...]
    chat_input: str | None = None
    chat_output: str | None = None

    def to_json(self) -> JsonObject:
        """Return the inputs and outputs as a JSON object."""
        return {
            "inputs": [port.to_json() for port in self.inputs],
            "outputs": [port.to_json() for port in self.outputs],
            "chat_input": self.chat_input,
            "chat_output": self.chat_output,
        }


def describe_io(flow: Flow) -> FlowIO:
    """Return the inputs and outputs of the flow, judged by its edges alone."""
    nodes = flow.components
    fed = {(edge.target, edge.target_port) for edge in flow.edges if not edge.is_feedback}
    fed_nodes = {target for target, _ in fed}
    feeding = {edge.source for edge in flow.edges}
    inputs: list[IOPort] = []
    outputs: list[IOPort] = []
    for node in nodes:
        if node.id not in fed_nodes and not node.tool_mode and (node.id in feeding or not _is_end(node)):
            open_ports = [port for port in input_ports(node) if (node.id, port.name) not in fed]
            name = "input_value" if node.field("input_value") is not None else open_ports[0].name if open_ports else ""
            types = next((port.types for port in open_ports if port.name == name), ())
            inputs.append(IOPort(node=node.id, type=node.type, name=name, types=types))
        if node.id not in feeding:
            for output in node.outputs:
                types = tuple(texts(output.get("types")))
                outputs.append(IOPort(node=node.id, type=node.type, name=str(output.get("name", "")), types=types))
    return FlowIO(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        chat_input=next((node.id for node in nodes if node.type == "ChatInput"), None),
        chat_output=next((node.id for node in nodes if node.type == "ChatOutput"), None),
    )


def canvas_summary(flow: Flow, limit: int = 2000, catalogue: Catalogue | None = None, texts: int = 0) -> str:
    """Return the flow's components and connections in at most `limit` characters, with the number of omitted lines.

    A summary never contains a secret, and no values unless a catalogue is given.

    Args:
        flow: the flow.
        limit: the most characters.
        catalogue: with it, texts and models that differ from their defaults are shown, as far as there is room.
        texts: the length in characters up to which texts are added; long ones are cut, all alike.
    """
    nodes = flow.components
    if not nodes:
        return EMPTY_CANVAS
    if catalogue is not None and (values := set_texts(flow, catalogue)):
        bare = len(canvas_summary(flow, limit))
        values = shortened(values, min(limit, texts) - bare)
    else:
        values = {}
    title = " ".join(flow.name.split())[:100] or "Untitled"
    lines = [f"name: {title}", "components:"]
    for node in nodes:
        lines.append(f"  {_component(node)}")
        lines += [f"    {name}: {text}" for name, text in values.get(node.id, {}).items()]
    if flow.edges:
        lines.append("connections:")
    for edge in flow.edges:
        loop = " (loop)" if edge.is_feedback else ""
        lines.append(f"  {edge.source}.{edge.source_port or '?'} -> {edge.target}.{edge.target_port or '?'}{loop}")
    return _cut(lines, limit)


def _component(node: Node) -> str:
    name = "" if node.display_name == node.type else f' "{node.display_name[:40]}"'
    tool = " (tool)" if node.tool_mode else ""
    ports = feedback_ports(node)
    loop = f" (loop: feed back into {', '.join(port.name for port in ports)})" if ports else ""
    return f"{node.id}: {node.type}{name}{tool}{loop}"


def _cut(lines: list[str], limit: int) -> str:
    text = "\n".join(lines)
    if len(text) <= limit:
        return text
    kept: list[str] = []
    used = 0
    for index, line in enumerate(lines):
        mark = f"… ({len(lines) - index} more lines)"
        if used + len(line) + 1 + len(mark) > limit:
            return "\n".join([*kept, mark])[: max(limit, 0)]
        kept.append(line)
        used += len(line) + 1
    return text


def _is_end(node: Node) -> bool:
    return node.type in {"ChatOutput", "TextOutput"}
