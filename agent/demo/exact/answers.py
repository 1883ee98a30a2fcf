"""Questions that the demo planner can answer: about components from the catalogue, about the flow from the canvas."""

import re

from agent.demo.concepts.meanings import asks_for_fields, meaning
from agent.demo.exact.language import Request, plain
from agent.demo.exact.names import field_named, node_named
from agent.demo.plan import CannotPlan, Plan, step
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Node
from tools.workbench import Workbench

_ABOUT_FLOW = re.compile(r"\b(this|my|the|current)\s+(flow|canvas|pipeline)\b|\bon the canvas\b", re.IGNORECASE)
_VALUE = re.compile(
    r"\b(?:what(?:'s| is)|show)\s+(?:me\s+)?(?:the\s+)?(?P<field>[\w ]+?)\s+(?:of|in|on)\s+(?:the\s+)?"
    r"(?P<name>.+?)\??$",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bhow\s+many\s+(?P<name>[\w -]+?)\s+(?:does|do|has|have|are|is)\b", re.IGNORECASE)
_FILLER = re.compile(
    r"\b(what|which|who|how|do|does|is|are|there|can|could|i|me|the|an?|any|component|components|use|used|using|for|to|of|in"
    r"|langflow|should|would|you|tell|about|list|show|find|have|with|that|which|explain|describe|work|works|need)\b",
    re.IGNORECASE,
)


def answer(request: Request, message: str, bench: Workbench) -> Plan | None:
    """A plan that answers an exact question in English: about a value, a number or one component; None without one.

    Args:
        request: the message taken apart.
        message: the message as written.
        bench: the canvas and the catalogue.
    """
    value = _value(request, bench)
    if value is not None:
        return value
    counted = _COUNT.search(request.text)
    if counted is not None and not bench.current.is_empty:
        return Plan(steps=(step("describe_flow_io"),), close=lambda _: _counted(counted["name"], bench))
    named = mentioned(message, bench.catalogue)
    if named is None or (_ABOUT_FLOW.search(message) and not bench.current.is_empty):
        return None
    lists = asks_for_fields(message, named)
    return Plan(
        steps=(step("describe_component", type=named.type),),
        close=lambda answers: component_text(named, answers[-1]) if lists else meaning(named),
    )


def search(message: str) -> Plan:
    """A plan that looks for the components that a question is about."""
    query = " ".join(_FILLER.sub(" ", re.sub(r"[^\w\s-]", " ", message)).split()) or message[:100]
    return Plan(
        steps=(step("search_components", query=query),), close=lambda answers: search_results_text(query, answers[-1])
    )


def _counted(name: str, bench: Workbench) -> str:
    """How many components of a kind the canvas has."""
    wanted = plain(name).removesuffix("s")
    nodes = [node for node in bench.current.nodes if not node.is_note]
    if wanted not in ("component", "node", "", "box", "boxe", "step"):
        nodes = [
            node for node in nodes if wanted in (plain(node.type), plain(node.display_name)) or _is_kind(node, wanted)
        ]
    names = ", ".join(node.display_name for node in nodes)
    return f"The flow has {len(nodes)} of them: {names}." if nodes else f"The flow has no {name.strip()}."


def _is_kind(node: Node, wanted: str) -> bool:
    return wanted in plain(node.type) or plain(node.type).removesuffix("component") == wanted


def mentioned(message: str, catalogue: Catalogue) -> ComponentType | None:
    """The component type whose name stands in a message; the longest name wins."""
    words = re.sub(r"[^a-z0-9]+", " ", message.lower())
    padded = f" {words} "
    best: tuple[int, ComponentType] | None = None
    for component in catalogue:
        for name in (component.display_name, component.type):
            spaced = " ".join(re.sub(r"[^a-z0-9]+", " ", name.lower()).split())
            found = f" {spaced} " in padded or (len(plain(name)) > 5 and f" {plain(name)} " in padded)
            if found and (best is None or len(spaced) > best[0]) and not component.legacy:
                best = (len(spaced), component)
    return best[1] if best else None


def component_text(component: ComponentType, description: str) -> str:
    """What the catalogue says of a component, for a person: its summary, then ports and fields."""
    details = description.partition("\n")[2] if description.startswith(component.type) else description
    return f"{component.display_name} (`{component.type}`): {component.description}\n\n{details}"


def search_results_text(query: str, found: str) -> str:
    """What a search found, for a person."""
    if not found.startswith("- "):
        return f"I found no component for {query!r}. Try other words for what it should do."
    return f"These components may fit {query!r}:\n{found}"


def _value(request: Request, bench: Workbench) -> Plan | None:
    asked = re.sub(r"\s+(?:in|of|on)\s+(?:my|this|the)\s+(?:flow|canvas)\s*\??$", "", request.text.strip())
    said = _VALUE.search(asked)
    if said is None or bench.current.is_empty:
        return None
    try:
        node = node_named(request.unmask(said["name"]), bench.current)
        field = field_named(request.unmask(said["field"]), node)
    except CannotPlan:
        return None
    return Plan(
        steps=(step("get_field_value", component_id=node.id, field=field),),
        close=lambda answers: f"{field} of {node.display_name}: {answers[-1].partition(chr(10))[2]}",
    )
