"""Preservation: did everything stay as it was that nobody asked to change?"""

from collections import Counter

from evals.case import Case, Grade
from evals.oracles.facts import Comparison, Fact
from flows.document import Flow, Node
from flows.json_values import as_object, as_text

ROUNDING = 1.0
"""How far a component may move, in pixels, when positions are rounded."""


def preserved(case: Case) -> Grade:
    """True if every change to the flow at the start is at a place that had to change in the nearest reference flow.

    A place is a component, one of its fields, its name, or a connection. A place that had to change may get any value,
    and so may one that an earlier message of the conversation asked to change. New components and their connections do
    not count. Nor do positions on the canvas if components or connections have changed, since the rest may be laid out
    anew then; otherwise nothing may have moved. Every sticky note must stay exactly as it was. The start is the canvas
    as the user last left it: the user's edits between messages must survive too. Not scored on an empty canvas, or if
    a change was expected and none was made.
    """
    if not case.start.nodes:
        return None, "there was nothing to preserve"
    lost = Counter(_notes(case.before)) - Counter(_notes(case.after))
    if lost:
        return False, f"sticky notes are gone or changed: {'; '.join(repr(text[:60]) for text in sorted(lost)[:5])}"
    if moved := _moved(case.before, case.after):
        return False, f"moved unasked: {'; '.join(moved[:5])}"
    if case.change_expected and not case.changed:
        return None, "nothing was changed"
    unasked = min((_unasked(comparison, case.requested_earlier) for comparison in case.comparisons), key=len)
    if unasked:
        return False, f"changed unasked: {'; '.join(unasked[:5])}"
    return True, "nothing outside the request was changed"


def _notes(flow: Flow) -> list[str]:
    return [as_text(node.definition.get("description")) for node in flow.nodes if node.is_note]


def _moved(before: Flow, after: Flow) -> list[str]:
    """The components that stand elsewhere although no component and no connection came or went, by name, sorted."""
    places = [{node.id: node for node in flow.components} for flow in (before, after)]
    wiring = [sorted(edge.text for edge in flow.edges) for flow in (before, after)]
    if places[0].keys() != places[1].keys() or wiring[0] != wiring[1]:
        return []
    return sorted(node.display_name for name, node in places[0].items() if _elsewhere(node, places[1][name]))


def _elsewhere(node: Node, now: Node) -> bool:
    here, there = (as_object(each.raw.get("position")) for each in (node, now))
    for axis in ("x", "y"):
        old, new = here.get(axis), there.get(axis)
        if isinstance(old, int | float) and isinstance(new, int | float) and abs(old - new) > ROUNDING:
            return True
    return False


def _unasked(comparison: Comparison, requested: frozenset[Fact]) -> list[str]:
    old = {node.id for node in comparison.start.nodes}
    expected = {fact.place for _, fact in comparison.expected_changes} | {fact.place for fact in requested}
    removed = {fact.nodes[0] for sign, fact in comparison.expected_changes if sign == "-" and fact.kind == "node"}
    return sorted(
        f"{'gone' if sign == '-' else 'new'}: {' to '.join(fact.nodes)} {fact.what} {fact.value}".rstrip()
        for sign, fact in comparison.changes
        if set(fact.nodes) <= old and fact.place not in expected and not removed & set(fact.nodes)
    )
