"""What the planner says of the flow on the canvas and of components, in the user's language."""

from collections.abc import Iterator

from agent.demo.edits import chain_text, in_order, unconnected_outputs
from agent.demo.reading import Reading
from agent.demo.replies import reply
from agent.demo.words import fold
from flows.catalogue import Catalogue
from flows.checks import check
from flows.component_type import ComponentType
from flows.document import Flow, Node
from flows.fields.model_values import canonical_model
from flows.json_values import as_object
from flows.templates import templates

_SHOWN = 400
_PLUMBING = frozenset({"ChatInput", "ChatOutput", "Prompt Template", "LanguageModelComponent", "ParserComponent"})


def template_list(language: str) -> str:
    """The starter flows."""
    lines = [f"- {one.name}: {one.title}. {one.description}" for one in templates()]
    return reply("templates", language, list="\n".join(lines))


def explanation(flow: Flow, language: str) -> str:
    """What a flow does, step by step."""
    lines = [reply("explained", language, name=flow.name, chain=chain_text(flow))]
    lines.extend(f"- {node.display_name}: {_role(node, language)}" for node in in_order(flow))
    return "\n".join([*lines, *_loose(flow, language)])


def _role(node: Node, language: str) -> str:
    if node.type in ("ChatInput", "TextInput"):
        return reply("role_input", language)
    if node.type in ("ChatOutput", "TextOutput"):
        return reply("role_output", language)
    if node.field("template") is not None and isinstance(node.value("template"), str):
        return reply("role_prompt", language, value=f"“{str(node.value('template'))[:_SHOWN]}”")
    if (node.field("model") or {}).get("type") == "model":
        return reply("role_model", language, value=_model(node))
    return node.type


def _model(node: Node) -> str:
    entry = canonical_model(node.value("model"))
    first = as_object(entry[0]) if isinstance(entry, list) and entry else {}
    return str(first.get("name") or "—")


def diagnosis(flow: Flow, catalogue: Catalogue, language: str) -> str:
    """Why a flow does not work, as far as its wiring and its settings tell."""
    lines = list(_loose(flow, language))
    if not lines:
        faults = [fault for fault in check(flow, catalogue) if fault.is_error]
        lines = [reply("fault", language, message=f"{fault.message} {fault.fix or ''}".strip()) for fault in faults]
    if lines:
        return "\n".join(lines)
    asks_model = any((node.field("model") or {}).get("type") == "model" for node in flow.nodes)
    key = reply("key_needed", language) if asks_model else ""
    return reply("no_fault", language, chain=chain_text(flow), key=key)


def _loose(flow: Flow, language: str) -> Iterator[str]:
    """What is not connected."""
    outputs = {node.id for node, _ in unconnected_outputs(flow)}
    for node, source in unconnected_outputs(flow):
        name = source.display_name if source is not None else chain_text(flow).rpartition(" → ")[0]
        yield reply("unconnected_output", language, name=node.display_name, source=name)
    joined = {end for edge in flow.edges for end in (edge.source, edge.target)}
    for node in flow.nodes:
        if not node.is_note and node.id not in joined | outputs and len(flow.nodes) > 1:
            yield reply("unconnected", language, name=node.display_name)


def component_answer(reading: Reading, catalogue: Catalogue) -> str | None:
    """An answer about the components that a question names, or that the recipes it names are made of; None without."""
    named = _named(reading.message, catalogue)
    if not named:
        types = dict.fromkeys(kind for recipe in reading.recipes for kind in recipe.types if kind not in _PLUMBING)
        named = [found for kind in types if (found := catalogue.get(kind)) is not None]
        if not named:
            return None
        lines = [reply("components", reading.language)]
        return "\n".join([*lines, *(f"- {_told(one, reading.language)}" for one in named[:5])])
    return "\n".join(_told(one, reading.language) for one in named[:4])


def _named(message: str, catalogue: Catalogue) -> list[ComponentType]:
    """The component types whose names stand in a message, each place counted once, the longest name first."""
    said = f" {_spaced(message)} "
    names = [
        (name, component)
        for component in catalogue
        for name in {_spaced(component.display_name), _spaced(component.type)}
        if len(name) > 3 and (not component.legacy or " " in name)
    ]
    named: dict[str, ComponentType] = {}
    for name, component in sorted(names, key=lambda one: (-len(one[0]), one[1].type)):
        if f" {name} " in said:
            named.setdefault(component.type, component)
            said = said.replace(f" {name} ", "  ")
    return list(named.values())


def _spaced(text: str) -> str:
    return " ".join("".join(c if c.isascii() and c.isalnum() else " " for c in fold(text)).split())


def _told(component: ComponentType, language: str) -> str:
    return reply(
        "component",
        language,
        name=component.display_name,
        type=component.type,
        description=component.description or component.display_name,
    )
