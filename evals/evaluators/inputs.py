"""Required-input coverage: does every component have what it needs?"""

from collections import Counter

from evals.case import Case, Score
from flows.document import Flow, Json

_EMPTY: tuple[Json, ...] = (None, "", [], {})


def inputs(case: Case) -> Score:
    """The share of required, shown fields of all components that hold a value or are connected.

    Model fields do not count: an empty one stands for the assistant's model. Neither does what the right flow leaves
    empty as well. Not scored when the player left the flow as it was, or nothing is required.
    """
    if not case.touched:
        return Score(name="inputs", value=None, reason="no flow was made or changed")
    filled, missing = _coverage(case.after)
    rights = [_coverage(flow)[1] for flow in case.target_flows]
    missing = min((list((Counter(missing) - Counter(right)).elements()) for right in rights), key=len)
    if not filled and not missing:
        return Score(name="inputs", value=None, reason="no input is required")
    reason = f"missing: {', '.join(missing)}" if missing else "every required input has something"
    return Score(name="inputs", value=filled / (filled + len(missing)), reason=reason)


def _coverage(flow: Flow) -> tuple[int, list[str]]:
    taken = {(edge.target, edge.target_port) for edge in flow.edges}
    filled, missing = 0, list[str]()
    for node in flow.nodes:
        for name, field in node.template.items() if not node.is_note else ():
            if not field.get("required") or field.get("show") is False or field.get("type") == "model":
                continue
            if (node.id, name) in taken or field.get("value") not in _EMPTY:
                filled += 1
            elif not node.tool_mode:
                missing.append(f"{node.type}.{name}")
    return filled, sorted(missing)
