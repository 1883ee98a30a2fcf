"""How tools answer a model: compact text to act on, and retries that say what to change."""

import json
from collections.abc import Iterable

from pydantic_ai import ModelRetry

from flows.component_type import Match
from flows.document import Flow, Json
from flows.edits import EditError
from flows.faults import Fault

VALUE_LIMIT = 1_500
"""Characters of a value, such as a run's output or a field, that a model is shown."""


def fault_lines(faults: Iterable[Fault]) -> str:
    """Faults as lines: place, message, fix."""
    return "\n".join(f"- {_place(fault)}{fault.message}{f' Fix: {fault.fix}' if fault.fix else ''}" for fault in faults)


def _place(fault: Fault) -> str:
    if fault.line is not None:
        return f"line {fault.line}: "
    return f"{fault.node}: " if fault.node and fault.node not in fault.message else ""


def errors(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Only the faults that are errors."""
    return tuple(fault for fault in faults if fault.is_error)


def retry_edit(error: EditError) -> ModelRetry:
    """The retry that answers a refused edit."""
    return ModelRetry(f"Nothing was changed.\n{fault_lines(error.faults)}")


def reason_to_stop(failures: list[str], attempt: str, limit: int, kind: str) -> str | None:
    """Record a failed attempt; returns why to stop, or None when another attempt is allowed.

    Args:
        failures: the attempts that failed before.
        attempt: what was tried.
        limit: how many attempts there are.
        kind: what an attempt is, in a word.
    """
    repeated = attempt in failures
    failures.append(attempt)
    if repeated:
        return f"the same {kind} failed again"
    if len(failures) < limit:
        return None
    return "1 attempt failed" if limit == 1 else f"{limit} attempts failed"


def clip(text: str, limit: int = VALUE_LIMIT) -> str:
    """Text cut to a limit, saying so."""
    return text if len(text) <= limit else f"{text[:limit]}\n... [truncated, {len(text)} characters in all]"


def outline(flow: Flow) -> str:
    """A flow's nodes and edges by id, one per line."""
    nodes = [f"  {node.id}" for node in flow.nodes if not node.is_note]
    edges = [f"  {edge.text}" for edge in flow.edges]
    return "\n".join(["nodes:", *nodes, *(["edges:", *edges] if edges else [])])


def value_text(value: Json) -> str:
    """A value for a model: strings as they are, anything else as JSON, clipped."""
    return clip(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def match_line(match: Match) -> str:
    """A component type with the first sentence of what it does."""
    sentence = match.description.split(". ")[0].rstrip(".")
    return f"{match.type}: {sentence if len(sentence) <= 140 else f'{sentence[:137]}...'}"


def bullets(items: Iterable[str]) -> str:
    """Items as a list, one per line."""
    return "\n".join(f"- {item}" for item in items)
