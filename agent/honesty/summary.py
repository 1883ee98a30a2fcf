"""A summary of a turn's changes, composed from what was done, in the user's language."""

from agent.language.phrases import phrase
from flows.actions import FlowAction
from flows.document import Edge, Node
from tools.replies import clip
from tools.workbench import Workbench

OUTPUT_LIMIT = 1_000
"""Characters of a run's output that a summary repeats."""

SHOWN = 12
"""Changes that a summary lists one by one."""


def change_summary(bench: Workbench, language: str) -> str:
    """What a turn did, a sentence a kind of change; says so when it did nothing.

    Args:
        bench: what was done.
        language: the language to write in.
    """
    lines: list[str] = []
    if bench.proposal is not None:
        lines.append(phrase("proposed", language, repr(bench.proposal.name)))
    by_kind: dict[str, list[str]] = {}
    for action in bench.actions[:SHOWN]:
        described = _described(action)
        if described is not None and described[1] not in by_kind.setdefault(described[0], []):
            by_kind[described[0]].append(described[1])
    lines.extend(phrase(kind, language, ", ".join(items)) for kind, items in by_kind.items())
    if len(bench.actions) > SHOWN:
        lines.append(phrase("more", language, len(bench.actions) - SHOWN))
    lines.extend(phrase("file", language, change.path, change.change) for change in bench.files)
    for run in bench.runs[-1:]:
        if run.error is not None:
            lines.append(phrase("run_failed", language, run.error.message))
        elif run.output is None:
            lines.append(phrase("ran_silently", language))
        else:
            lines.append(phrase("ran", language, clip(run.output, OUTPUT_LIMIT)))
    lines.extend(caveat for caveat in bench.caveats)
    return "\n".join(lines) or phrase("nothing", language)


def _described(action: FlowAction) -> tuple[str, str] | None:
    match action.kind:
        case "add_component":
            return "added", Node(action.node).id
        case "remove_component":
            return "removed", Node(action.node).id
        case "connect":
            return "connected", _arrow(Edge(action.edge))
        case "disconnect":
            return "disconnected", _arrow(Edge(action.edge))
        case "configure":
            return "changed", f"{action.node}.{action.field}"
        case "select_output" | "set_connection_mode" | "set_tool_mode" | "amend":
            return "changed", action.node
        case "set_detail":
            return "changed", ".".join(str(step) for step in action.path)
        case "set_flow":
            name = action.new.get("name")
            return "applied", repr(name if isinstance(name, str) else "")
        case "arrange":
            return None


def _arrow(edge: Edge) -> str:
    return f"{edge.source} → {edge.target}"
