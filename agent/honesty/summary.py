"""A summary of what a turn did, in the user's language."""

from agent.language.phrases import phrase
from flows.actions import FlowAction, SetFlow
from flows.describe.actions import summarize
from flows.document import Flow
from tools.replies import clip
from tools.workbench import Workbench

OUTPUT_LIMIT = 1_000
"""How many characters of a run's output a summary repeats."""

LISTED_CHANGES = 12
"""How many changes a summary lists one by one."""


def change_summary(bench: Workbench, language: str) -> str:
    """Describe what a turn did, one sentence for each kind of change.

    Args:
        bench: the turn's workbench.
        language: the language to write in.
    """
    lines: list[str] = []
    if bench.proposal is not None and bench.proposed:
        lines.append(phrase("proposed", language, repr(bench.proposal.name)))
    by_effect: dict[str, dict[str, None]] = {}
    for action in bench.actions[:LISTED_CHANGES]:
        effect = summarize(action).effect
        if effect != "moved":
            by_effect.setdefault("applied" if effect == "replaced" else effect, {})[_subject(action)] = None
    lines.extend(phrase(effect, language, ", ".join(subjects)) for effect, subjects in by_effect.items())
    if len(bench.actions) > LISTED_CHANGES:
        lines.append(phrase("more", language, len(bench.actions) - LISTED_CHANGES))
    lines.extend(phrase("file", language, change.path, change.change) for change in bench.files)
    for run in bench.runs[-1:]:
        if run.error is not None:
            lines.append(phrase("run_failed", language, run.error.message))
        elif run.output is None:
            lines.append(phrase("ran_silently", language))
        else:
            lines.append(phrase("ran", language, clip(run.output, OUTPUT_LIMIT)))
    lines.extend(bench.caveats)
    return "\n".join(lines) or phrase("nothing", language)


def _subject(action: FlowAction) -> str:
    """What an action concerns: a node, its field, two connected nodes, a path in the document or a flow's name."""
    if isinstance(action, SetFlow):
        return repr(Flow(action.new).name)
    summary = summarize(action)
    return " → ".join(summary.nodes) if len(summary.nodes) == 2 else ".".join([*summary.nodes, *summary.names])
