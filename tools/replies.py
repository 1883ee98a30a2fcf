"""How tools answer a model: compact text that it can act on, and retries that say what to change."""

from collections.abc import Iterable, Sequence

from pydantic_ai import ModelRetry

from flows.document import Flow, Json
from flows.edits import EditError
from flows.faults import Fault

VALUE_LIMIT = 1_500
"""Characters of a value (a run's output, a field) that are shown to a model."""


def fault_lines(faults: Iterable[Fault]) -> str:
    """Faults as lines: place, message, fix."""
    return "\n".join(f"- {_place(fault)}{fault.message}{f' Fix: {fault.fix}' if fault.fix else ''}" for fault in faults)


def _place(fault: Fault) -> str:
    if fault.line is not None:
        return f"line {fault.line}: "
    return f"{fault.node}: " if fault.node and fault.node not in fault.message else ""


def errors(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Only the faults that stop a flow."""
    return tuple(fault for fault in faults if fault.severity == "error")


def refused(error: EditError) -> ModelRetry:
    """The retry that follows a refused edit."""
    return ModelRetry(f"Nothing was changed.\n{fault_lines(error.faults)}")


def clip(text: str, limit: int = VALUE_LIMIT) -> str:
    """Text cut to a limit, saying so."""
    return text if len(text) <= limit else f"{text[:limit]}\n... [truncated, {len(text)} characters in all]"


def outline(flow: Flow) -> str:
    """A flow's nodes and edges by id, one a line."""
    nodes = [f"  {node.id}" for node in flow.nodes if not node.is_note]
    edges = [f"  {edge.text}" for edge in flow.edges]
    return "\n".join(["nodes:", *nodes, *(["edges:", *edges] if edges else [])])


def known_nodes(flow: Flow) -> str:
    """The ids on the canvas, for messages about unknown ones."""
    ids = [node.id for node in flow.nodes if not node.is_note]
    return ", ".join(ids) if ids else "(the canvas is empty)"


def shown(value: Json) -> str:
    """A value for a model: strings as they are, anything else as JSON, clipped."""
    import json

    return clip(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def listing(items: Sequence[str]) -> str:
    """Items as a list, one a line."""
    return "\n".join(f"- {item}" for item in items)


def attempts_failed(count: int) -> str:
    """How many attempts failed, in words."""
    return "1 attempt failed" if count == 1 else f"{count} attempts failed"
