"""What the planner says of the flow on the canvas, of what it did there, and of components, in the user's language."""

import re
from collections.abc import Iterable, Iterator

from agent.demo.building.branches import OTHERWISE
from agent.demo.edits import chain_text, in_order, named_components, unconnected_outputs, unknown_component
from agent.demo.reading import Reading
from agent.demo.reasons import reason
from agent.demo.replies import reply
from flows.catalogue import Catalogue
from flows.checks import check
from flows.component_type import ComponentType
from flows.describe.actions import summarize
from flows.diff import diff
from flows.document import Flow, Node
from flows.fields.model_values import canonical_model
from flows.json_values import as_object
from flows.templates import templates
from tools.workbench import Workbench

_SHOWN = 400
_PLUMBING = frozenset({"ChatInput", "ChatOutput", "Prompt Template", "LanguageModelComponent", "ParserComponent"})
_FOR_A_MODEL = re.compile(
    r"\b(?:tell|ask) the user\b|\bbuild one first\b|\bdo not (?:ask|call|build|repeat)\b|\b[a-z]+_[a-z]+\b|^Fix: ",
    re.IGNORECASE,
)
"""A sentence of a tool's answer that tells a model what to do."""
_NO_MATCH = "false_result"
_CHANGES = ("added", "removed", "connected", "changed")


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
    try:
        entry = canonical_model(node.value("model"))
    except ValueError:  # it names no model
        entry = []
    first = as_object(entry[0]) if isinstance(entry, list) and entry else {}
    return str(first.get("name") or "—")


def diagnosis(flow: Flow, catalogue: Catalogue, language: str) -> str:
    """Why a flow does not work, as far as its wiring and its settings tell."""
    lines = list(_loose(flow, language))
    if not lines:
        faults = [fault for fault in check(flow, catalogue) if fault.is_error]
        said = [reason(f"{fault.message} {fault.fix}".strip(), language) for fault in faults]
        lines = [reply("fault", language, message=one) for one in said]
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
    named = named_components(reading.message, catalogue)
    if not named:
        types = dict.fromkeys(kind for recipe in reading.recipes for kind in recipe.types if kind not in _PLUMBING)
        named = [found for kind in types if (found := catalogue.get(kind)) is not None]
        if not named:
            return None
        lines = [reply("components", reading.language)]
        return "\n".join([*lines, *(f"- {_told(one, reading.language)}" for one in named[:5])])
    return "\n".join(_told(one, reading.language) for one in named[:4])


def component_list(found: str, language: str) -> str:
    """What a search for components found, as the tool answers."""
    if not found.startswith("- "):
        return reply("no_component", language)
    return f"{reply('components', language)}\n{found}"


def nothing_there(reading: Reading, catalogue: Catalogue) -> str:
    """Why an empty canvas is not changed: what is to be added is unknown, or there is no flow."""
    return unknown_component(reading, catalogue) or reply("empty", reading.language)


def _told(component: ComponentType, language: str) -> str:
    return reply(
        "component",
        language,
        name=component.display_name,
        type=component.type,
        description=component.description or component.display_name,
    )


def report(before: Flow, bench: Workbench, language: str, left_out: tuple[str, ...], notes: tuple[str, ...]) -> str:
    """What was done, read off the canvas and the runs."""
    flow = bench.current
    lines: list[str] = []
    if bench.components:
        names = dict.fromkeys(component.type for component in bench.components)
        lines.append(reply("written", language, names=", ".join(names)))
    if bench.proposal is not None and (before.is_empty or not _shares(before, flow)):
        lines.append(reply("built", language, name=flow.name, nodes=chain_text(flow)))
        lines.extend(reply(key, language) for key in _unmatched(flow))
    elif flow != before:
        lines.append(reply("done", language, changes=_changes(before, flow, language)))
    if left_out:
        lines.append(reply("left_out", language, parts=quoted(left_out)))
    lines.extend(notes)
    lines.extend(_caveat(caveat, flow, language) for caveat in bench.caveats)
    if bench.runs:
        run = bench.runs[-1]
        if run.error is not None:
            why = reason(f"{run.error.message} {run.error.fix}".strip(), language)
            lines.append(reply("run_failed", language, error=why))
        else:
            lines.append(reply("ran_silently" if run.output is None else "ran", language, output=run.output))
    return "\n".join(dict.fromkeys(lines)) or reply("unchanged", language)


def _unmatched(flow: Flow) -> Iterator[str]:
    """The replies that say what happens with messages that match no branch of a router, where no answer is set."""
    kinds = {node.id: node.type for node in flow.nodes}
    for node in flow.nodes:
        if node.type == "ConditionalRouter":
            led = [kinds[edge.target] for edge in flow.edges if (edge.source, edge.source_port) == (node.id, _NO_MATCH)]
            if not led:
                yield "unmatched_dropped"
            elif "ChatOutput" in led and not str(node.value("false_case_message") or "").strip():
                yield "unmatched_repeated"
        elif node.type == "SmartRouter":
            rows = node.value("routes")
            routes = [as_object(row) for row in rows] if isinstance(rows, list) else []
            if not node.value("enable_else_output") and all(one.get("route_category") != OTHERWISE for one in routes):
                yield "unmatched_dropped"


def _shares(before: Flow, after: Flow) -> bool:
    return bool({node.id for node in before.nodes} & {node.id for node in after.nodes})


def _changes(before: Flow, after: Flow, language: str) -> str:
    """The changes from one flow to another, in words."""

    def name(node_id: str) -> str:
        node = after.node(node_id) or before.node(node_id)
        return node_id if node is None else node.display_name

    said: dict[str, None] = {}
    for action in diff(before, after):
        summary = summarize(action)
        names = " → ".join(name(node) for node in summary.nodes)
        if summary.effect in _CHANGES and names:
            what = f"{names}: {summary.names[0]}" if summary.effect == "changed" and summary.names else names
            said[reply(summary.effect, language, what=what)] = None
    return "; ".join(said) or reply("unchanged", language)


def _caveat(caveat: str, flow: Flow, language: str) -> str:
    """Why what was built could not be run, in the user's language where there are words for it."""
    if language != "en":
        if re.search(r"\b(?:keys?|model|Provider)\b", caveat):
            return reply("key_needed", language)
        file = next((node for node in flow.nodes if node.type == "File"), None)
        if re.search(r"\bfiles?\b", caveat) and file is not None:
            return reply("file_needed", language, name=file.display_name)
    return reply("note", language, caveat=reason(caveat, language))


def stopped(bench: Workbench, refusal: str, language: str) -> str:
    """Why the plan ended early, and what was done before."""
    faults = [line[2:].partition(" Fix: ")[0] for line in refusal.splitlines() if line.startswith("- ")]
    sentences = re.split(r"(?<=[.!?])\s+", refusal)
    why = " ".join(faults or [one for one in sentences if _FOR_A_MODEL.search(one) is None])
    done = f" {reply('stand', language, count=len(bench.actions))}" if bench.actions else ""
    caveats = [_caveat(caveat, bench.current, language) for caveat in bench.caveats]
    return "\n".join([f"{reply('stopped', language, reason=reason(why, language))}{done}", *dict.fromkeys(caveats)])


def quoted(parts: Iterable[str]) -> str:
    """Pieces of the user's message, marked as theirs."""
    return "; ".join(f"«{part}»" for part in dict.fromkeys(parts))
