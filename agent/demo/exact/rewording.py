"""Changes of words that stand in a flow: this instead of that, what a component should say, what an agent should do."""

import re
from collections.abc import Callable
from functools import partial

from pydantic import JsonValue

from agent.demo.exact.language import VARIABLE
from agent.demo.exact.names import instructed, node_named
from agent.demo.plan import CannotPlan, Step
from flows.document import Flow, Node
from flows.edits import EditError
from flows.edits.basic import configure
from tools.workbench import Workbench

_WORDS = r"(?P<{0}>⟦\d+⟧)"
_NEW_FOR_OLD = re.compile(
    rf"\b(?:say|says|use|uses|read|reads|write|answer|answers|be|call|have|make)\b[^⟦]*{_WORDS.format('new')}[^⟦]*?"
    rf"\b(?:in\s+place\s+of|instead\s+of|rather\s+than|and\s+not|not)\b[^⟦]*{_WORDS.format('old')}",
    re.IGNORECASE,
)
_OLD_TO_NEW = re.compile(
    rf"\b(?:instead\s+of|in\s+place\s+of|replace|change|swap|turn)\b[^⟦]*?{_WORDS.format('old')}[^⟦]*?"
    rf"\b(?:say|says|use|read|be|to|with|by|into|for|write)\b[^⟦]*?{_WORDS.format('new')}",
    re.IGNORECASE,
)
_SHOULD_SAY = re.compile(
    r"^(?:please\s+)?(?:let|make|have)?\s*(?:the\s+|my\s+)?(?P<name>[\w -]+?)\s+(?:should|must|shall|to)?\s*"
    r"(?:say|read|answer)\s+(?P<new>⟦\d+⟧)(?:\s+from\s+now\s+on)?\W*$",
    re.IGNORECASE,
)
_TELL_AGENT = re.compile(
    r"^(?:please\s+)?(?:tell|instruct|ask)\s+(?:the|my)\s+(?:agent|model|assistant|bot|ai)\s+to\s+(?P<what>.+?)\W*$",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"\b(?:add|insert|put)\s+(?:in\s+)?(?:(?:an?|one|another|the)\s+)?(?:\w+\s+)?(?:prompt|template|step|component)\b",
    re.IGNORECASE,
)
"""What says that one more is wanted, and not that the one that is there should say something else."""

_TEXT_TYPES = frozenset({"str", "prompt"})


def rewording_steps(clause: str, unmask: Callable[[str], str], bench: Workbench) -> list[Step] | None:
    """The steps of a clause about words that stand in the flow, or None when it is about something else.

    Args:
        clause: the masked clause.
        unmask: puts the quoted values back.
        bench: the canvas and the catalogue.
    """
    for pattern in (_NEW_FOR_OLD, _OLD_TO_NEW):
        said = pattern.search(clause)
        if said is not None:
            old, new = unmask(said["old"]), unmask(said["new"])
            if _holding(bench.current, old):
                return [("configure_component", partial(_exchanged, bench, old, new))]
    template = _template(clause, unmask, bench.current)
    if template is not None:
        return template
    if said := _SHOULD_SAY.match(clause):
        name, new = said["name"], unmask(said["new"])
        node = _named(bench.current, name)
        if node is not None:
            return [("configure_component", lambda: {"component_id": node.id, "values": {"template": new}})]
    if said := _TELL_AGENT.match(clause):
        what = unmask(said["what"])
        return [("configure_component", lambda: _instructed(bench.current, what))]
    return None


def _template(clause: str, unmask: Callable[[str], str], flow: Flow) -> list[Step] | None:
    """A new wording with a gap, for the one prompt template on the canvas."""
    said = re.search(r"⟦\d+⟧", clause)
    prompts = [node for node in flow.nodes if (node.field("template") or {}).get("type") == "prompt"]
    asked = re.search(r"\b(?:wording|template|prompt|text|say)\b", clause, re.IGNORECASE)
    if (
        said is None
        or asked is None
        or _ADDS.search(clause)
        or len(prompts) != 1
        or len(re.findall(r"⟦\d+⟧", clause)) > 1
    ):
        return None
    new = unmask(said.group())
    if not VARIABLE.search(new) or new == prompts[0].value("template"):
        return None
    return [("configure_component", lambda: {"component_id": prompts[0].id, "values": {"template": new}})]


def is_rewording(clause: str) -> bool:
    """Whether a clause is, by its form, about words that stand in a flow."""
    return any(pattern.search(clause) for pattern in (_NEW_FOR_OLD, _OLD_TO_NEW, _SHOULD_SAY, _TELL_AGENT))


def _holding(flow: Flow, words: str) -> list[tuple[Node, str, str]]:
    """The text fields that hold some words: node, field and value."""
    return [
        (node, name, value)
        for node in flow.nodes
        if not node.is_note
        for name, field in node.template.items()
        if field.get("type") in _TEXT_TYPES and name != "code" and not field.get("password")
        if isinstance(value := field.get("value"), str) and words.strip() in value
    ]


def _exchanged(bench: Workbench, old: str, new: str) -> dict[str, JsonValue]:
    found = _holding(bench.current, old)
    if len(found) != 1:
        where = ", ".join(f"{name} of {node.display_name}" for node, name, _ in found) or "nowhere"
        raise CannotPlan(f"{old!r} stands in several places: {where}. Which of them do you mean?")
    node, name, value = found[0]
    values: dict[str, JsonValue] = {name: value.replace(old.strip(), new.strip() if old == old.strip() else new)}
    try:
        configure(bench.current, bench.catalogue, node.id, values)
    except EditError as refused:
        raise CannotPlan(str(refused)) from refused
    return {"component_id": node.id, "values": values}


def _named(flow: Flow, name: str) -> Node | None:
    """The component with a prompt template that a name means, or None."""
    try:
        node = node_named(name, flow)
    except CannotPlan:
        return None
    return node if (node.field("template") or {}).get("type") == "prompt" else None


def _instructed(flow: Flow, what: str) -> dict[str, JsonValue]:
    node, name = instructed(flow)
    before = str(node.value(name) or "").strip()
    asked = f"{what[:1].upper()}{what[1:]}."
    kept = before and before != "You are a helpful assistant that can use tools to answer questions and perform tasks."
    return {"component_id": node.id, "values": {name: f"{before} {asked}" if kept else asked}}
