"""Edit recall: how many of the expected changes were made?"""

from evals.case import Case, Grade
from evals.oracles.facts import Comparison


def edit_recall(case: Case) -> Grade:
    """|changes expected that were made| / |changes expected|, a change being a fact added or removed (`oracles.facts`).

    For the nearest reference flow; zero if nothing was changed. Not scored on an empty canvas, or if no change was
    expected.
    """
    if not case.start.nodes or not case.change_expected:
        return None, "nothing that was there had to be changed"
    if not case.changed:
        return 0.0, "nothing was changed"

    def recall(comparison: Comparison) -> float:
        expected = comparison.expected_changes
        return len(comparison.changes & expected) / len(expected) if expected else 1.0

    return case.best(recall), "changes made beside those that were wanted"
