"""Changes of a flow that the demo planner understands, one clause at a time."""

import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from agent.demo.building.roles import edge_on_the_way
from agent.demo.exact.language import NAMED_WITH_WORDS, WORDS_BEHIND, Request
from agent.demo.exact.names import (
    component_type,
    connectable,
    connection_end,
    field_named,
    instructed,
    node_named,
    prompt_node,
)
from agent.demo.plan import CannotPlan, Step
from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.edits import connect, remove_component
from tools.workbench import Workbench


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:please\s+)?{pattern}$", re.IGNORECASE)


_HERE = r"(?:\s+(?:to|into|on|in|from)\s+(?:the|my|this)\s+(?:flow|canvas))?"
_SET = r"(?:set|change|update)\s+"
_ADD = _rule(rf"(?:add|insert|put)\s+(?:(?:an?|another|one|the)\s+)?(?P<name>.+?){_HERE}")
_REMOVE = _rule(rf"(?:remove|delete)\s+(?P<name>.+?){_HERE}")
_CONNECT = _rule(r"(?:connect|wire|link)\s+(?P<source>.+?)\s+(?:to|with|into)\s+(?P<target>.+)")
_DISCONNECT = _rule(r"(?:disconnect|unlink)\s+(?P<source>.+?)\s+(?:from|and)\s+(?P<target>.+)")
_SET_OF = _rule(rf"{_SET}(?:the\s+)?(?P<field>[\w ]+?)\s+(?:of|on|in|for)\s+(?P<name>.+?)\s+(?:to|=)\s+(?P<value>.+)")
_SET_DOT = _rule(rf"{_SET}(?P<name>[\w -]+)\.(?P<field>\w+)\s+(?:to|=)\s+(?P<value>.+)")
_SET_PLACE = _rule(rf"{_SET}(?P<place>⟦\d+⟧)\s+(?:to|=)\s+(?P<value>.+)")
_SET_PROMPT = _rule(rf"{_SET}(?:the\s+)?(?P<field>prompt|template)\s+(?:to|=)\s+(?P<value>.+)")
_SET_INSTRUCTIONS = _rule(
    rf"{_SET}(?:the\s+|my\s+)?(?:(?:agent|model)(?:'s)?\s+)?(?:system\s+(?:prompt|message)|instructions?)\s+(?:to|=)\s+"
    r"(?P<value>⟦\d+⟧)"
)
_INSERT = _rule(
    rf"(?:add|insert|put)\s+(?:(?:an?|another|one|the)\s+)?{NAMED_WITH_WORDS}\s+between\s+(?P<source>.+?)\s+and\s+"
    rf"(?P<target>.+?){WORDS_BEHIND}"
)
_REPLACE = _rule(r"(?:replace|swap|exchange)\s+(?P<name>.+?)\s+(?:with|by|for)\s+(?:(?:an?|the)\s+)?(?P<type>.+)")
_RENAME = _rule(r"rename\s+(?P<name>.+?)\s+(?:to|as)\s+(?P<value>.+)")
_DUPLICATE = _rule(rf"(?:duplicate|copy)\s+(?P<name>.+?){_HERE}")
_TEMPLATE = _rule(r"(?:use|take|start\s+(?:from|with))\s+(?:the\s+)?template\s+(?P<name>.+)")
_ADD_PROMPT = _rule(
    r"(?:add|insert|put)\s+(?:\w+\s+)?(?:(?:an?|another|the)\s+)?(?:new\s+)?prompt(?:\s+template)?\b"
    r"(?:\s+(?:in\s+)?between(?:\s+(?:them|both|the\s+two))?|\s+in\s+the\s+middle)?"
    r"(?P<says>[\s:]+(?:[^\W\d_]+[\s:]+){0,3})(?P<template>⟦\d+⟧)(?:\s+ein)?"
)
"""A prompt that is added with its words; what joins them ("that says", "qui dit") may be in any language."""
_ADD_BETWEEN = _rule(
    r"(?:add|insert|put)\s+(?:(?:an?|another|one|the)\s+)?(?P<name>[^⟦⟧]+?)\s+(?:in\s+the\s+middle|(?:in\s+)?between"
    r"(?:\s+(?:them|both|(?:the|my|these|both)\s+(?:two\s+)?(?:nodes|components|steps|two|others|ones)))?)"
)
_ONLY_QUOTED = _rule(rf"(?:add|insert|put)\s+(?:(?:an?|another|one|the)\s+)?⟦\d+⟧(?:\s+component)?{_HERE}")
PROMPT = "Prompt Template"
PASSES_ON = "{text}"
_QUOTED_VALUE = re.compile(r"⟦\d+⟧")


def is_change(clause: str) -> bool:
    """Whether a clause is a change that is understood."""
    return any(pattern.match(clause) for pattern in (*_RULES, _SET_PROMPT)) and not _drops_words(clause)


def is_rename(clause: str) -> bool:
    """Whether a clause gives a component another name."""
    return _RENAME.match(clause) is not None


def _drops_words(clause: str) -> bool:
    """Whether a clause adds a component with quoted words that no rule has a place for."""
    rule = next((pattern for pattern in _RULES if pattern.match(clause)), None)
    return rule is _ADD and _QUOTED_VALUE.sub("", clause) != clause and _ONLY_QUOTED.match(clause) is None


def names_template(text: str) -> bool:
    """Whether a message asks for a starter flow by its name."""
    return _TEMPLATE.match(text.strip()) is not None


def change(clause: str, request: Request, bench: Workbench) -> Step:
    """The step for one clause; its arguments are worked out on the canvas as it stands when its turn comes.

    Raises:
        CannotPlan: when the clause is not understood.
    """
    prompt = _SET_PROMPT.match(clause)
    if prompt:
        value = request.unmask(prompt["value"])
        return "configure_component", lambda: {
            "component_id": prompt_node(bench.current).id,
            "values": {"template": value},
        }
    for pattern, make in _RULES.items():
        match = pattern.match(clause)
        if match:
            said = {name: request.unmask(value) for name, value in match.groupdict().items() if value is not None}
            if pattern is _REMOVE and any(_CONNECT.match(other) for other in request.clauses):
                return _remove_alone(said, bench)
            return make(said, bench)
    raise CannotPlan(f"I don't know how to {request.unmask(clause)!r}.")


def _add(said: Mapping[str, str], bench: Workbench) -> Step:
    return "add_component", lambda: {"type": component_type(said["name"], bench.catalogue, bench.current)}


def _add_prompt(said: Mapping[str, str], bench: Workbench) -> Step:
    return "insert_component", lambda: _before_answer(bench.current, PROMPT, said["template"])


def _add_between(said: Mapping[str, str], bench: Workbench) -> Step:
    return "insert_component", lambda: _before_answer(bench.current, component_type(said["name"], bench.catalogue))


def _before_answer(flow: Flow, component: str, template: str | None = None) -> dict[str, JsonValue]:
    """The arguments that put a component into the one connection that leads to the answer."""
    answers = {node.id for node in flow.nodes if node.type == "ChatOutput"}
    edges = [edge for edge in flow.edges if edge.target in answers]
    if len(edges) != 1:
        raise CannotPlan("Say between which two components the prompt should go.")
    placed: dict[str, JsonValue] = {
        "type": component,
        "source_id": edges[0].source,
        "target_id": edges[0].target,
        "source_output": edges[0].source_port,
        "target_input": edges[0].target_port,
    }
    return with_template(placed, template)


def with_template(placed: dict[str, JsonValue], template: str | None) -> dict[str, JsonValue]:
    """The arguments of an insertion; a prompt without words passes on what it is given.

    Args:
        placed: the arguments, with the component's type.
        template: the words that were said.
    """
    words = template or (PASSES_ON if placed["type"] == PROMPT else None)
    return placed if words is None else {**placed, "values": {"template": words}}


def _remove(said: Mapping[str, str], bench: Workbench) -> Step:
    return "edit_flow", lambda: {"changes": removal(node_named(said["name"], bench.current), bench.current)}


def _remove_alone(said: Mapping[str, str], bench: Workbench) -> Step:
    """A removal in a message that says itself what to connect."""
    return "remove_component", lambda: {"component_id": node_named(said["name"], bench.current).id}


def removal(node: Node, flow: Flow) -> str:
    """The removal of a component as a fragment of spec text: its neighbours are connected where they fit.

    Args:
        node: the component.
        flow: the flow that it is part of.
    """
    return _removing([node], _joined(node, flow))


def removals(nodes: Sequence[Node], flow: Flow, catalogue: Catalogue) -> str:
    """The removal of several components, one after the other, as a fragment of spec text.

    Args:
        nodes: the components.
        flow: the flow that they are part of.
        catalogue: the component types.
    """
    rest = flow
    for node in nodes:
        joined = _joined(node, rest)
        rest = remove_component(rest, node.id).flow
        for ends in joined:
            rest = connect(rest, catalogue, *ends).flow
    old = {edge.text for edge in flow.edges}
    new = [edge for edge in rest.edges if edge.text not in old]
    return _removing(nodes, [(edge.source, edge.source_port, edge.target, edge.target_port) for edge in new])


def _joined(node: Node, flow: Flow) -> list[tuple[str, str, str, str]]:
    """The connections between the neighbours of a component that is removed, where they fit."""
    into = [edge for edge in flow.edges if edge.target == node.id]
    rest = remove_component(flow, node.id).flow
    joined: list[tuple[str, str, str, str]] = []
    for edge in flow.edges:
        source, target = rest.node(into[0].source) if len(into) == 1 else None, rest.node(edge.target)
        if edge.source != node.id or source is None or target is None:
            continue
        ports = (into[0].source_port, edge.target_port)
        if ports in connectable(source, target, rest):
            joined.append((source.id, ports[0], target.id, ports[1]))
    return joined


def _removing(nodes: Sequence[Node], joined: Sequence[tuple[str, str, str, str]]) -> str:
    edges = [f"  {source}.{output} -> {target}.{field}" for source, output, target, field in joined]
    return "\n".join([*(["edges:", *edges] if edges else []), "remove:", *(f"  {node.id}" for node in nodes)])


def _connect(said: Mapping[str, str], bench: Workbench) -> Step:
    def arguments() -> dict[str, JsonValue]:
        source, source_port = connection_end(said["source"], bench.current)
        target, target_port = connection_end(said["target"], bench.current)
        pairs = [
            pair
            for pair in connectable(source, target, bench.current)
            if source_port in (None, pair[0]) and target_port in (None, pair[1])
        ]
        if not pairs:
            raise CannotPlan(f"Nothing that {source.display_name} gives fits a free input of {target.display_name}.")
        output, input_ = pairs[0]
        return {"source_id": source.id, "source_output": output, "target_id": target.id, "target_input": input_}

    return "connect_components", arguments


def _disconnect(said: Mapping[str, str], bench: Workbench) -> Step:
    def arguments() -> dict[str, JsonValue]:
        source, target = node_named(said["source"], bench.current), node_named(said["target"], bench.current)
        return {"source_id": source.id, "target_id": target.id}

    return "disconnect_components", arguments


def _set(said: Mapping[str, str], bench: Workbench) -> Step:
    def arguments() -> dict[str, JsonValue]:
        node = node_named(said["name"], bench.current)
        return {"component_id": node.id, "values": {field_named(said["field"], node): said["value"]}}

    return "configure_component", arguments


def _set_instructions(said: Mapping[str, str], bench: Workbench) -> Step:
    def arguments() -> dict[str, JsonValue]:
        node, field = instructed(bench.current)
        return {"component_id": node.id, "values": {field: said["value"]}}

    return "configure_component", arguments


def _set_place(said: Mapping[str, str], bench: Workbench) -> Step:
    """A field that is named as the canvas refers to it: `'component id.field'`."""
    name, dot, field = said["place"].rpartition(".")
    if not dot:
        raise CannotPlan(f"Which field of {said['place']!r} do you mean?")
    return _set({"name": name, "field": field, "value": said["value"]}, bench)


def _template(said: Mapping[str, str], bench: Workbench) -> Step:
    del bench
    return "use_template", lambda: {"name": said["name"]}


def _insert(said: Mapping[str, str], bench: Workbench) -> Step:
    def arguments() -> dict[str, JsonValue]:
        source, target = node_named(said["source"], bench.current), node_named(said["target"], bench.current)
        found: dict[str, JsonValue] = {
            "type": component_type(said["name"], bench.catalogue),
            "source_id": source.id,
            "target_id": target.id,
        }
        edge = edge_on_the_way(bench.current, source, target)
        if edge is not None:
            found |= {"source_id": edge.source, "source_output": edge.source_port, "target_input": edge.target_port}
        return with_template(found, said.get("words") or said.get("template"))

    return "insert_component", arguments


def _replace(said: Mapping[str, str], bench: Workbench) -> Step:
    return "replace_component", lambda: {
        "component_id": node_named(said["name"], bench.current).id,
        "type": component_type(said["type"], bench.catalogue),
    }


def _rename(said: Mapping[str, str], bench: Workbench) -> Step:
    return "rename_component", lambda: {
        "component_id": node_named(said["name"], bench.current).id,
        "name": said["value"],
    }


def _duplicate(said: Mapping[str, str], bench: Workbench) -> Step:
    return "duplicate_component", lambda: {"component_id": node_named(said["name"], bench.current).id}


_RULES: Mapping[re.Pattern[str], Callable[[Mapping[str, str], Workbench], Step]] = {
    _DISCONNECT: _disconnect,
    _CONNECT: _connect,
    _REMOVE: _remove,
    _SET_PLACE: _set_place,
    _SET_DOT: _set,
    _SET_INSTRUCTIONS: _set_instructions,
    _SET_OF: _set,
    _TEMPLATE: _template,
    _INSERT: _insert,
    _ADD_BETWEEN: _add_between,
    _REPLACE: _replace,
    _RENAME: _rename,
    _DUPLICATE: _duplicate,
    _ADD_PROMPT: _add_prompt,
    _ADD: _add,
}
