"""Preservation: did everything stay that nobody asked to change?"""

from collections import Counter

from evals.case import Case, Score
from evals.oracles.facts import Comparison, Fact
from flows.document import Flow
from flows.json_values import as_text


def preserved(case: Case) -> Score:
    """True when every change to what was there stands at a place that had to change in the nearest right flow.

    A place is a component, one of its fields, its name, or a connection; another value at a place that had to change
    is inside the request, and so is one that an earlier message of the conversation asked to change. New components,
    and connections of theirs, are not a matter of preservation. Sticky notes must stay word for word, as often as they
    are there. Places on the canvas do not count. What was there is the canvas as the user left it: their own edits
    between messages must survive too. Not scored on an empty canvas, or when a change was wanted and none was made.
    """
    if not case.start.parts:
        return Score(name="preserved", value=None, reason="there was nothing to preserve")
    gone = Counter(_notes(case.before)) - Counter(_notes(case.after))
    if gone:
        reason = f"sticky notes are gone or changed: {'; '.join(repr(text[:60]) for text in sorted(gone)[:5])}"
        return Score(name="preserved", value=False, reason=reason)
    if case.changes and not case.touched:
        return Score(name="preserved", value=None, reason="nothing was changed")
    asked = case.asked_earlier
    outside = min((_outside(comparison, asked) for comparison in case.comparisons), key=len)
    if outside:
        return Score(name="preserved", value=False, reason=f"changed unasked: {'; '.join(outside[:5])}")
    return Score(name="preserved", value=True, reason="nothing outside the request was changed")


def _notes(flow: Flow) -> list[str]:
    return [as_text(node.definition.get("description")) for node in flow.nodes if node.is_note]


def _outside(comparison: Comparison, asked: frozenset[Fact]) -> list[str]:
    old = {part.id for part in comparison.start.parts}
    wanted = {fact.place for _, fact in comparison.wanted} | {fact.place for fact in asked}
    gone = {fact.parts[0] for sign, fact in comparison.wanted if sign == "-" and fact.kind == "part"}
    return sorted(
        _words(sign, fact)
        for sign, fact in comparison.changes
        if set(fact.parts) <= old and fact.place not in wanted and not gone & set(fact.parts)
    )


def _words(sign: str, fact: Fact) -> str:
    verb = "gone" if sign == "-" else "new"
    return f"{verb}: {' to '.join(fact.parts)} {fact.what} {fact.value}".rstrip()
