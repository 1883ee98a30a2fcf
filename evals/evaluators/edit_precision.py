"""Edit precision: of what was changed, how much had to be?"""

from evals.case import Case, Score
from evals.oracles.facts import Comparison


def edit_precision(case: Case) -> Score:
    """|changes made that were wanted| / |changes made|, a change being a fact that came or went (`oracles.facts`).

    For the nearest right flow. Not scored on an empty canvas, or when nothing was changed.
    """
    if not case.start.parts or not case.touched:
        return Score(name="edit_precision", value=None, reason="nothing that was there was changed")

    def precision(comparison: Comparison) -> float:
        made = comparison.changes
        return len(made & comparison.wanted) / len(made) if made else 1.0

    return Score(name="edit_precision", value=case.best(precision), reason="changes that were wanted beside those made")
