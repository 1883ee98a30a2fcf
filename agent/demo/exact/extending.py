"""One more step in a flow that is there: a change of the text before it is answered."""

import re

from pydantic import JsonValue

from agent.demo.exact.language import Request
from agent.demo.exact.texts import text_stage
from agent.demo.plan import CannotPlan, Step
from flows.document import Edge, Flow
from flows.json_values import as_text
from tools.workbench import Workbench

_PLACED = re.compile(
    r"\b(?:in\s+front\s+of|behind\s+(?:my|the|every)|at\s+the\s+(?:end|start|beginning)|(?:starts?|ends?|begins?)\s+with"
    r"|before\s+(?:it\s+|the\s+)?(?:answers?|repl|everything)|additionally|on\s+top|everything\s+it)",
    re.IGNORECASE,
)
"""What says that something is to be added, and not that something else is to be changed."""


def extension_steps(request: Request, bench: Workbench) -> list[Step] | None:
    """The steps that put one more change of the text before the answer, or None when no rule knows the change.

    Args:
        request: the message taken apart.
        bench: the canvas and the catalogue.
    """
    flow = bench.current
    if flow.is_empty or _last_edge(flow) is None or _PLACED.search(request.text) is None:
        return None
    found = _step(request)
    if found is None:
        return None
    kind, values = found

    def arguments() -> dict[str, JsonValue]:
        edge = _last_edge(bench.current)
        if edge is None:
            raise CannotPlan("There are several answers; say before which one the step should go.")
        return {
            "type": kind,
            "source_id": edge.source,
            "target_id": edge.target,
            "source_output": edge.source_port,
            "target_input": edge.target_port,
            "values": dict(values),
        }

    return [("insert_component", arguments)]


def _step(request: Request) -> tuple[str, dict[str, JsonValue]] | None:
    """The component of the step and its values; what stands before or after a text becomes a prompt template."""
    stage = text_stage(request.text, request)
    if stage is None or len(stage.nodes) != 1:
        return None
    kind = stage.nodes[0][1]
    if kind == "CombineText":
        fixed = request.quoted[0]
        behind = stage.into == "@.text1"
        joint = "" if fixed.endswith((" ", "\n")) or fixed.startswith((" ", "\n")) else " "
        text = fixed.replace("{", "{{").replace("}", "}}")
        template = f"{{text}}{joint}{text}" if behind else f"{text}{joint}{{text}}"
        return "Prompt Template", {"template": template}
    values: dict[str, JsonValue] = {}
    for line in stage.config:
        key, _, value = line.strip().partition(":")
        text = value.partition("|\n")[2]
        values[key.removeprefix("@.")] = text[4:] if text else as_text(value.strip())
    return kind, values


def _last_edge(flow: Flow) -> Edge | None:
    """The one connection that leads into the one chat output."""
    outputs = [node.id for node in flow.nodes if node.type == "ChatOutput"]
    edges = [edge for edge in flow.edges if edge.target in outputs]
    return edges[0] if len(outputs) == 1 and len(edges) == 1 else None
