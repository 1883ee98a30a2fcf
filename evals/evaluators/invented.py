"""Invented types: did the player ask for components that do not exist?"""

from collections.abc import Iterator

from evals.case import Case, Grade
from evals.oracles.tool_calls import calls
from flows.spec import build
from flows.spec.fragment import parse_fragment

_TYPED = ("add_component", "insert_component", "replace_component", "describe_component")


def invented(case: Case) -> Grade:
    """True if every type in the specs and edits that the player gave its tools, and in its flow, is in the catalogue.

    Not scored without calls or a changed flow.
    """
    found = calls(case.attempt)
    if found is None and not case.changed:
        return None, "the player shows no calls and no flow"
    named = {node.type for node in case.result.nodes} - {node.type for node in case.start.nodes}
    named.update(
        str(call.arguments.get("type", "")) for call in found or [] if call.tool in _TYPED and not call.accepted
    )
    unknown = {kind for kind in named if case.catalogue.get(kind) is None}
    for call in found or []:
        if call.tool == "build_flow":
            unknown.update(_unknown_types(str(call.arguments.get("spec", "")), case))
        elif call.tool == "edit_flow":
            unknown.update(_unknown_types(_types_alone(str(call.arguments.get("changes", ""))), case))
    if unknown:
        return False, f"there is no {', '.join(sorted(unknown))}"
    return True, "every type is in the catalogue"


def _unknown_types(spec: str, case: Case) -> Iterator[str]:
    return (fault.message for fault in build(spec, case.catalogue).faults if fault.code == "unknown_type")


def _types_alone(changes: str) -> str:
    """The components that an edit adds or puts in the place of others, as a spec."""
    fragment, _ = parse_fragment(changes)
    return "\n".join(["nodes:", *(f"  {node.id}: {node.type}" for node in fragment.spec.nodes)])
