"""Invented types: did the player ask for components that do not exist?"""

from collections.abc import Iterator

from evals.case import Case, Score
from evals.oracles.tool_calls import calls, named
from flows.spec import build

_TYPED = ("add_component", "insert_component", "replace_component", "describe_component")


def invented(case: Case) -> Score:
    """True when every type in specs and edits that the player gave its tools, and in its flow, is in the catalogue.

    Not scored when there is neither a call nor a flow to look at.
    """
    found = calls(case.attempt)
    if found is None and not case.touched:
        return Score(name="invented", value=None, reason="the player shows no calls and no flow")
    own = {part.type for part in case.start.parts}
    unknown = {part.type for part in case.made.parts} - own
    unknown = {kind for kind in unknown if case.catalogue.get(kind) is None}
    for call in named(found or [], *_TYPED):
        kind = str(call.arguments.get("type", ""))
        if not call.taken and case.catalogue.get(kind) is None:
            unknown.add(kind)
    for call in named(found or [], "build_flow"):
        unknown.update(_unknown_in(str(call.arguments.get("spec", "")), case))
    if unknown:
        return Score(name="invented", value=False, reason=f"there is no {', '.join(sorted(unknown))}")
    return Score(name="invented", value=True, reason="every type is in the catalogue")


def _unknown_in(spec: str, case: Case) -> Iterator[str]:
    for fault in build(spec, case.catalogue).faults:
        if fault.code == "unknown_type":
            yield fault.message
