"""Edit recall: of what had to be changed, how much was?"""

from evals.case import Case, Score
from evals.oracles.facts import Comparison


def edit_recall(case: Case) -> Score:
    """|changes wanted that were made| / |changes wanted|, a change being a fact that came or went (`oracles.facts`).

    For the nearest right flow; zero when nothing was changed. Not scored on an empty canvas, or when nothing had to be
    changed.
    """
    if not case.start.parts or not case.changes:
        return Score(name="edit_recall", value=None, reason="nothing that was there had to be changed")
    if not case.touched:
        return Score(name="edit_recall", value=0.0, reason="nothing was changed")

    def recall(comparison: Comparison) -> float:
        wanted = comparison.wanted
        return len(comparison.changes & wanted) / len(wanted) if wanted else 1.0

    return Score(name="edit_recall", value=case.best(recall), reason="changes made beside those that were wanted")
