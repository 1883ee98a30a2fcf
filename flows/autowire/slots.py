"""What a component provides and needs, and how well an output and an input match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from flows.component_type import TOOL_OUTPUT
from flows.document import Node, edge_text
from flows.fields.model_values import CONNECTED
from flows.fields.prompts import PROMPT_TYPES
from flows.fields.secrets import is_secret
from flows.json_values import EMPTY, JsonObject, as_object, as_text, texts
from flows.ports import Port, feedback_ports, input_ports, output_ports, types_compatible
from flows.search.tokenizer import plain

SOURCES = frozenset({"ChatInput", "TextInput", "Webhook"})
SINKS = frozenset({"ChatOutput", "TextOutput"})
MODEL = "LanguageModel"
OPEN_MODEL_COST, _OPEN_VARIABLE_COST, OPEN_MAIN_COST, _OPEN_REQUIRED_COST = 20, 60, 70, 80
"""The costs of leaving an input open: a model, a template's variable, the main input, a required object."""
_TOOLS = frozenset({"utilities", "data_source", "tools"})
"""Categories whose components are tools of an agent in the flow, not steps."""
_MAIN = re.compile(r"(?:^|_)(?:input|query|question|data|text|text1|message|df|value|expression|document|content)")
_NAMES = {
    "chat": {
        "question",
        "query",
        "input",
        "user",
        "userinput",
        "usermessage",
        "message",
        "chatinput",
        "prompt",
        "request",
    },
    "data": {"context", "document", "documents", "chunks", "data", "rows", "table", "file", "content", "page"},
    "past": {"history", "memory", "chathistory", "conversation"},
}
"""Common names of variables for a chat message, for data, and for the chat history."""


@dataclass(frozen=True)
class Option:
    """A possible edge; the smaller the cost, the likelier it is intended."""

    source: str
    output: str
    target: str
    input: str
    feedback: bool = False
    cost: int = 0

    @property
    def text(self) -> str:
        """The edge as spec text writes it."""
        return edge_text(self.source, self.output, self.target, self.input)


@dataclass(frozen=True)
class Component:
    """A component of a wiring."""

    node: Node
    can_be_tool: bool
    category: str
    name: str = ""

    @cached_property
    def id(self) -> str:
        """The node's id."""
        return self.node.id

    @cached_property
    def outputs(self) -> list[Port]:
        """Its outputs as a step."""
        return [port for port in output_ports(self.node) if port.name != TOOL_OUTPUT]

    @cached_property
    def separate(self) -> frozenset[str]:
        """The outputs that are branches, each with separate successors."""
        return frozenset(as_text(output.get("name")) for output in self.node.outputs if output.get("group_outputs"))

    @cached_property
    def branches(self) -> frozenset[str]:
        """The branches that it has as a step."""
        return self.separate & {port.name for port in self.outputs}

    @cached_property
    def is_agent(self) -> bool:
        """Whether it accepts tools."""
        return any("Tool" in port.types for port in self.inputs)

    @cached_property
    def is_prompt(self) -> bool:
        """Whether it fills a template."""
        return any(field.get("type") in PROMPT_TYPES for field in self.node.template.values())

    @cached_property
    def is_model(self) -> bool:
        """Whether it calls a model."""
        return any(field.get("type") == "model" for field in self.node.template.values())

    @property
    def is_source(self) -> bool:
        """Whether flows begin with it."""
        return self.node.type in SOURCES

    @property
    def is_sink(self) -> bool:
        """Whether flows end with it."""
        return self.node.type in SINKS

    @cached_property
    def model_outputs(self) -> list[Port]:
        """The outputs that provide a model."""
        return [port for port in self.outputs if MODEL in port.types]

    @property
    def tool_costs(self) -> tuple[int, int] | None:
        """The cost of using it as an agent's tool, and as a step beside an agent; None if it cannot be a tool."""
        if not self.can_be_tool or self.is_agent or self.is_prompt or self.is_source or self.is_sink:
            return None
        return (0, 20) if self.category in _TOOLS else (25, 0)

    @cached_property
    def inputs(self) -> list[Port]:
        """The visible inputs without secrets, in display order."""
        order = {name: at for at, name in enumerate(texts(self.node.definition.get("field_order")))}
        shown = [
            port
            for port in input_ports(self.node)
            if self._field(port).get("show") is not False and not is_secret(self._field(port))
        ]
        return sorted(shown, key=lambda port: order.get(port.name, len(order)))

    @cached_property
    def feedback(self) -> list[Port]:
        """The outputs that accept a loop's feedback."""
        return feedback_ports(self.node)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The inputs that stand for the variables of a template."""
        custom = as_object(self.node.definition.get("custom_fields")).values()
        return frozenset(name for names in custom for name in texts(names))

    @cached_property
    def needs(self) -> dict[str, int]:
        """The inputs that need an edge, and the cost of leaving each open."""
        if self.is_source or self.node.tool_mode:
            return {}
        found: dict[str, int] = {}
        for port in self.inputs:
            field = self._field(port)
            if port.name in self.variables and not field.get("value"):
                found[port.name] = _OPEN_VARIABLE_COST
            elif field.get("type") == "model" and field.get("value") in (None, "", [], CONNECTED):
                found[port.name] = OPEN_MODEL_COST
            elif field.get("type") == "other" and port.required and "Tool" not in port.types:
                found[port.name] = _OPEN_REQUIRED_COST
        if self.main and not any(cost == _OPEN_REQUIRED_COST for cost in found.values()) and not self.variables:
            found[self.main] = OPEN_MAIN_COST
        return found

    @cached_property
    def main(self) -> str:
        """The main input of the component; empty if none is open."""
        open_ports = [port for port in self.inputs if self._is_open(port)]
        named = [port for port in open_ports if _MAIN.search(port.name)]
        return next((port.name for port in (*named, *open_ports)), "")

    def takes(self, port: Port) -> bool:
        """Say whether an edge that does not name an input may use this one; a setting with a value is not available."""
        field = self._field(port)
        return port.is_feedback or field.get("type") == "other" or field.get("value") in (*EMPTY, CONNECTED)

    def is_hidden_choice(self, port: Port) -> bool:
        """Say whether an input is an advanced setting."""
        return bool(self._field(port).get("advanced"))

    def _is_open(self, port: Port) -> bool:
        field = self._field(port)
        special = field.get("type") == "model" or "Tool" in port.types or "system" in port.name
        return not special and not field.get("advanced") and field.get("value") in EMPTY

    def _field(self, port: Port) -> JsonObject:
        return as_object(self.node.field(port.name))


def output_costs(component: Component) -> Iterator[tuple[Port, int]]:
    """Yield the outputs of a step with their costs: the first is the likeliest, branches are equal."""
    for at, port in enumerate(component.outputs):
        yield port, 0 if port.name in component.separate else 2 * at


def pair_cost(source: Component, output: Port, target: Component, port: Port) -> int:
    """Return how unlikely this edge is compared with other valid ones."""
    cost = 0
    if port.is_feedback and not types_compatible(output.types, port.types[:1]):
        cost += 10
    if target.is_sink:
        cost += 0 if "Message" in output.types else 10
        cost += 40 if source.is_source else 30 if source.is_prompt else 0
    if target.is_prompt and source.is_model:
        cost += 30
    if target.feedback and not port.is_feedback and output.types == ("Message",):
        cost += 10  # loops go over rows, not one text
    if "Split" in target.node.type and source.needs:
        cost += 15  # documents are split where they enter the flow
    if port.name in target.variables:
        cost += _name_cost(source, output, port.name)
    return cost


def input_cost(target: Component, port: Port) -> int:
    """Return how unlikely this input is if only the component was named."""
    if port.name in target.needs or port.name == target.main:
        return 0
    return 50 if target.is_hidden_choice(port) else 20


def _name_cost(source: Component, output: Port, variable: str) -> int:
    wanted = plain(variable)
    if wanted == plain(source.name):
        return 0
    if wanted in {plain(name) for name in (source.node.type, source.node.display_name, output.name)}:
        return 5
    kind = "chat" if source.is_source else "past" if source.node.type == "Memory" else "data"
    meant = next((name for name, words in _NAMES.items() if wanted in words), None)
    if meant is None:
        return 20
    return 5 if meant == kind and not (source.is_model and kind == "data") else 40
