"""Changes that name a place or a purpose: before and after a component, a tool for an agent, another model, undoing."""

import re
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import JsonValue

from agent.demo.building.added import task_of
from agent.demo.exact.changes import with_template
from agent.demo.exact.language import NAMED_WITH_WORDS, WORDS_BEHIND
from agent.demo.exact.names import component_type, node_named
from agent.demo.models import MODEL, model_named
from agent.demo.plan import CannotPlan, Step
from flows.document import Edge, Flow, Node
from tools.workbench import Workbench

_PLEASE = r"^(?:please\s+)?"
_NEW = r"(?:(?:an?|another|one|the)\s+)?(?:new\s+)?"
_BESIDE = re.compile(
    rf"{_PLEASE}(?:add|insert|put)\s+{_NEW}{NAMED_WITH_WORDS}\s+(?:right\s+|just\s+|directly\s+)?(?P<where>before|after)\s+"
    rf"(?P<beside>.+?){WORDS_BEHIND}$",
    re.IGNORECASE,
)
_TOOL = re.compile(
    rf"{_PLEASE}(?:add|give|connect|attach)\s+{_NEW}(?P<name>.+?)\s+(?:as\s+(?:an?\s+)?tool\s+)?(?:tool\s+)?(?:to|for)\s+"
    r"(?:the\s+|my\s+)?(?P<agent>agent)(?:\s+as\s+(?:an?\s+)?tool)?$",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    rf"{_PLEASE}give\s+(?:the\s+|my\s+)?(?P<agent>agent)\s+{_NEW}(?P<name>.+?)(?:\s+tool)?$", re.IGNORECASE
)
_MODEL = re.compile(
    rf"{_PLEASE}(?:use|switch\s+to|change\s+(?:the\s+)?(?:language\s+)?model\s+to|set\s+(?:the\s+)?(?:language\s+)?model\s+to)\s+"
    r"(?P<model>.+?)(?:\s+(?:instead|as\s+(?:the\s+)?model))?$",
    re.IGNORECASE,
)
_SAYS = re.compile(
    rf"{_PLEASE}(?:make|let)\s+(?:the\s+)?(?:prompt|template)\s+(?:say|be|read)\s+(?P<value>.+)$|"
    r"^(?:the\s+)?(?:prompt|template)\s+should\s+(?:say|be|read)\s+(?P<other>.+)$",
    re.IGNORECASE,
)
_UNDO = re.compile(
    rf"{_PLEASE}(?:undo|revert|take\s+back|roll\s+back)(?:\s+(?:that|it|this|the\s+last\s+(?:change|edit|step)s?|my\s+last\s+change"
    r"|everything|the\s+changes))?$",
    re.IGNORECASE,
)


def place_steps(clause: str, unmask: Callable[[str], str], bench: Workbench) -> list[Step] | None:
    """The steps of a clause that names a place or a purpose, or None when it does not.

    Args:
        clause: the masked clause.
        unmask: puts the quoted values back.
        bench: the canvas and the catalogue.
    """
    if _UNDO.match(clause):
        return [("undo_changes", dict[str, JsonValue])]
    for pattern, make in _RULES.items():
        match = pattern.match(clause)
        if match is None:
            continue
        said = {name: unmask(value) for name, value in match.groupdict().items() if value is not None}
        steps = make(said, bench)
        if steps is not None:
            return steps
    return None


def is_place(clause: str) -> bool:
    """Whether a clause is one of these changes."""
    model = _MODEL.match(clause)
    if model is not None:
        return model_named(model["model"]) is not None
    return any(pattern.match(clause) for pattern in (*_RULES, _UNDO))


def _beside(said: Mapping[str, str], bench: Workbench) -> list[Step] | None:
    def arguments() -> dict[str, JsonValue]:
        edge = _edge_beside(bench.current, said["beside"], before=said["where"].lower() == "before")
        ends: dict[str, JsonValue] = {
            "source_id": edge.source,
            "target_id": edge.target,
            "source_output": edge.source_port,
            "target_input": edge.target_port,
        }
        words = said.get("words") or said.get("template")
        task = None if words else task_of(said["name"], bench.catalogue)
        if task is not None:
            values: dict[str, JsonValue] = {"model": _model_in(bench.current), "system_message": task}
            return {"type": "LanguageModelComponent", **ends, "values": values}
        return with_template({"type": component_type(said["name"], bench.catalogue), **ends}, words)

    return [("insert_component", arguments)]


def _edge_beside(flow: Flow, name: str, *, before: bool) -> Edge:
    node = node_named(name, flow)
    edges = [edge for edge in flow.edges if (edge.target if before else edge.source) == node.id]
    if len(edges) != 1:
        raise CannotPlan(
            f"It is unclear which connection of {node.display_name} is meant; "
            "say between which two components it should go."
        )
    return edges[0]


def _model_in(flow: Flow) -> JsonValue:
    """The model that a flow uses; the one of new flows where it uses none or several."""
    models = [node.value("model") for node in flow.nodes if (node.field("model") or {}).get("type") == "model"]
    chosen = [model for model in models if model]
    return cast("JsonValue", chosen[0]) if len(chosen) == 1 else MODEL


def _tool(said: Mapping[str, str], bench: Workbench) -> list[Step] | None:
    def added() -> dict[str, JsonValue]:
        _agent(bench.current)
        return {"type": component_type(said["name"].removesuffix(" tool"), bench.catalogue)}

    def joined() -> dict[str, JsonValue]:
        agent, new = _agent(bench.current), bench.current.nodes[-1]
        return {
            "source_id": new.id,
            "source_output": "component_as_tool",
            "target_id": agent.id,
            "target_input": "tools",
        }

    return [("add_component", added), ("connect_components", joined)]


def _agent(flow: Flow) -> Node:
    agents = [node for node in flow.nodes if node.field("tools") is not None]
    if len(agents) != 1:
        raise CannotPlan("There is no agent on the canvas." if not agents else "There are several agents; name one.")
    return agents[0]


def _model(said: Mapping[str, str], bench: Workbench) -> list[Step] | None:
    model = model_named(said["model"])
    if model is None:
        return None

    def arguments() -> dict[str, JsonValue]:
        nodes = [node for node in bench.current.nodes if (node.field("model") or {}).get("type") == "model"]
        if len(nodes) != 1:
            raise CannotPlan("Nothing here uses a model." if not nodes else "Several components use a model; name one.")
        return {"component_id": nodes[0].id, "values": {"model": model}}

    return [("configure_component", arguments)]


def _says(said: Mapping[str, str], bench: Workbench) -> list[Step] | None:
    value = said.get("value") or said["other"]

    def arguments() -> dict[str, JsonValue]:
        prompts = [node for node in bench.current.nodes if (node.field("template") or {}).get("type") == "prompt"]
        if len(prompts) != 1:
            raise CannotPlan(
                "There is no prompt template on the canvas." if not prompts else "There are several prompts; name one."
            )
        return {"component_id": prompts[0].id, "values": {"template": value}}

    return [("configure_component", arguments)]


_RULES: Mapping[re.Pattern[str], Callable[[Mapping[str, str], Workbench], list[Step] | None]] = {
    _SAYS: _says,
    _TOOL: _tool,
    _GIVEN: _tool,
    _BESIDE: _beside,
    _MODEL: _model,
}
