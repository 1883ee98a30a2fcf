"""What the names in a clause mean: component types, nodes of the flow, their fields and ports."""

import re

from agent.demo.exact.language import plain
from agent.demo.plan import CannotPlan
from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.ports import input_ports, output_ports, types_compatible

_IT = frozenset({"it", "that", "this", "new"})
_INSTRUCTIONS = ("system_prompt", "system_message")


def connectable(source: Node, target: Node, flow: Flow) -> list[tuple[str, str]]:
    """The outputs of one node and the free inputs of another that fit each other, visible inputs first."""
    taken = {edge.target_port for edge in flow.edges if edge.target == target.id}
    inputs = [port for port in input_ports(target) if port.name not in _INTERNAL]
    free = [port for port in inputs if port.is_list or port.name not in taken]
    free.sort(key=lambda port: bool((target.field(port.name) or {}).get("advanced")))
    return [
        (output.name, port.name)
        for port in free
        for output in output_ports(source)
        if types_compatible(output.types, port.types)
    ]


_INTERNAL = frozenset({"tool_placeholder"})
"""Inputs that Langflow keeps for its own use: what is connected there has no effect."""
_ONE_MORE = re.compile(r"^(?:second|third|further|additional|extra|other|new)\s+", re.IGNORECASE)
_KIND = re.compile(r"\s+(?:component|node|block|step)$", re.IGNORECASE)
_PRONOUNS = frozenset({"it", "this", "that", "these", "those", "them", "one"})


def component_type(name: str, catalogue: Catalogue, flow: Flow | None = None) -> str:
    """The component type that people call by this name.

    Args:
        name: the name.
        catalogue: the component types.
        flow: whose components may be meant, where one more of a kind is wanted: "a second answer".

    Raises:
        CannotPlan: when none is found.
    """
    wanted = plain(name)
    if wanted in _PRONOUNS:
        raise CannotPlan(f"I don't know which component {name!r} is; name it.")
    for component in catalogue:
        if wanted in (plain(component.type), plain(component.display_name)) and not component.legacy:
            return component.type
    bare = _KIND.sub("", name)
    on_canvas = () if flow is None else flow.nodes
    called = plain(_ONE_MORE.sub("", bare))
    titles = {node.type for node in on_canvas if not node.is_note and called == plain(node.display_name)}
    if len(titles) == 1:
        return titles.pop()
    found = catalogue.search(bare, 1)
    if not found:
        raise CannotPlan(no_component(bare, catalogue))
    return found[0].type


def no_component(name: str, catalogue: Catalogue) -> str:
    """That there is no component of a name, with the names that come near it."""
    near = [component.display_name for one in catalogue.nearest_matches(name) if (component := catalogue.get(one.type))]
    said = f"I found no component called {name!r}."
    return f"{said} The nearest: {', '.join(near)}." if near else said


def node_named(name: str, flow: Flow) -> Node:
    """The node that a user means: by id, by its name on the canvas, by its type, or the latest for "it".

    Raises:
        CannotPlan: when none or several fit.
    """
    nodes = [node for node in flow.nodes if not node.is_note]
    wanted = plain(name)
    if wanted in _IT and nodes:
        return nodes[-1]
    exact = [node for node in nodes if wanted in (plain(node.id), plain(node.display_name), plain(node.type))]
    near = exact or [node for node in nodes if wanted and wanted in plain(node.id) + " " + plain(node.display_name)]
    if len(near) == 1:
        return near[0]
    have = ", ".join(node.id for node in nodes) or "nothing"
    if near:
        raise CannotPlan(f"Which {name} do you mean: {_names(near)}?")
    raise CannotPlan(f"{name!r} is not on the canvas. The canvas has: {have}. Which one do you mean?")


def field_named(name: str, node: Node) -> str:
    """The field of a node that a user means, by its name or its label.

    Raises:
        CannotPlan: when there is none.
    """
    wanted = plain(name)
    labels = {field: str(one.get("display_name") or "") for field, one in node.template.items()}
    for field, label in labels.items():
        if wanted in (plain(field), plain(label)):
            return field
    shown = [field for field, one in node.template.items() if not one.get("advanced")]
    parts = [field for field in shown if wanted in map(plain, labels[field].split())]
    if len(parts) == 1:  # "instructions" for "Agent Instructions"
        return parts[0]
    raise CannotPlan(f"{node.display_name} has no field {name!r}.")


def prompt_node(flow: Flow) -> Node:
    prompts = [node for node in flow.nodes if (node.field("template") or {}).get("type") == "prompt"]
    if len(prompts) != 1:
        raise CannotPlan(
            "There is no prompt template on the canvas."
            if not prompts
            else f"Which prompt do you mean: {_names(prompts)}?"
        )
    return prompts[0]


def _names(nodes: list[Node]) -> str:
    return ", ".join(f"{node.display_name} ({node.id})" for node in nodes)


def connection_end(said: str, flow: Flow) -> tuple[Node, str | None]:
    """One end of a connection: a node, with its port when it is written as `node.port`."""
    name, dot, port = said.rpartition(".")
    if dot and re.fullmatch(r"\w+", port):
        return node_named(name, flow), port
    return node_named(said, flow), None


def instructed(flow: Flow) -> tuple[Node, str]:
    """The one component that takes instructions, and its field for them.

    Raises:
        CannotPlan: when there is none, or several.
    """
    found = [(node, name) for node in flow.nodes for name in _INSTRUCTIONS if node.field(name) is not None]
    if len(found) != 1:
        raise CannotPlan("Which component do you mean?" if found else "Nothing here takes instructions.")
    return found[0]
