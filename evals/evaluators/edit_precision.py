"""Edit precision: how many of the changes were right?"""

from evals.case import Case, Grade
from evals.oracles.facts import Comparison


def edit_precision(case: Case) -> Grade:
    """|changes made that were expected| / |changes made|, a change being a fact added or removed (`oracles.facts`).

    For the nearest reference flow. Not scored on an empty canvas, or if nothing was changed.
    """
    if not case.start.nodes or not case.changed:
        return None, "nothing that was there was changed"

    def precision(comparison: Comparison) -> float:
        made = comparison.changes
        return len(made & comparison.expected_changes) / len(made) if made else 1.0

    return case.best(precision), "changes that were wanted beside those made"
