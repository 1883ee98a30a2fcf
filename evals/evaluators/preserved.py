"""Preservation: did everything stay as it was that nobody asked to change?"""

from evals.case import Case, Grade
from evals.oracles.document_changes import unasked_changes
from evals.oracles.facts import Comparison, Fact


def preserved(case: Case) -> Grade:
    """True if every change to the document at the start is one that the nearest right flow makes too.

    A place is a component, one of its fields, its name, or a connection. A place that had to change may get any value,
    and so may one that an earlier message of the conversation asked to change. New components and their connections do
    not count. Everything else of the document must stay, down to ids, descriptions, sticky notes and the flow's own
    name, but for what follows from a change that was asked for and what the scenario lets change
    (`oracles.document_changes`). Components may move only to make room for what is new (`oracles.room`). The start is
    the canvas as the user last left it: the user's edits between messages must survive too. Not scored on an empty
    canvas, or if a change was expected and none was made.
    """
    if not case.start.nodes:
        return None, "there was nothing to preserve"
    changes = unasked_changes(case)
    if case.change_expected and not case.changed and not changes:
        return None, "nothing was changed"
    unasked = min((_unasked(comparison, case.requested_earlier) for comparison in case.comparisons), key=len)
    if unasked or changes:
        return False, f"changed unasked: {'; '.join([*unasked, *changes][:5])}"
    return True, "nothing outside the request was changed"


def _unasked(comparison: Comparison, requested: frozenset[Fact]) -> list[str]:
    old = {node.id for node in comparison.start.nodes}
    expected = {fact.place for _, fact in comparison.expected_changes} | {fact.place for fact in requested}
    removed = {fact.nodes[0] for sign, fact in comparison.expected_changes if sign == "-" and fact.kind == "node"}
    return sorted(
        f"{'gone' if sign == '-' else 'new'}: {' to '.join(fact.nodes)} {fact.what} {fact.value}".rstrip()
        for sign, fact in comparison.changes
        if set(fact.nodes) <= old and fact.place not in expected and not removed & set(fact.nodes)
    )
