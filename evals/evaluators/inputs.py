"""Required-input coverage: does every component have what it needs?"""

from collections import Counter

from evals.case import Case, Grade
from evals.oracles.scored_flow import is_blank
from flows.document import Flow


def inputs(case: Case) -> Grade:
    """The share of required, shown fields of all components that have a value or a connection.

    Model fields do not count: an empty one stands for the assistant's model. Neither do fields that the reference flow
    also leaves empty. Not scored if the player did not change the flow, or nothing is required.
    """
    if not case.changed:
        return None, "no flow was made or changed"
    filled, missing = _coverage(case.after)
    rights = [_coverage(flow)[1] for flow in case.target_flows]
    missing = min((list((Counter(missing) - Counter(right)).elements()) for right in rights), key=len)
    if not filled and not missing:
        return None, "no input is required"
    reason = f"missing: {', '.join(missing)}" if missing else "every required input has something"
    return filled / (filled + len(missing)), reason


def _coverage(flow: Flow) -> tuple[int, list[str]]:
    connected = {(edge.target, edge.target_port) for edge in flow.edges}
    filled, missing = 0, list[str]()
    for node in flow.components:
        for name, field in node.template.items():
            if not field.get("required") or field.get("show") is False or field.get("type") == "model":
                continue
            if (node.id, name) in connected or not is_blank(field.get("value")):
                filled += 1
            elif not node.tool_mode:
                missing.append(f"{node.type}.{name}")
    return filled, sorted(missing)
