"""The report of the attacks, `docs/reports/mandate.md`, from their figures."""

from dataclasses import dataclass
from pathlib import Path

REPORT = Path(__file__).parents[2] / "docs" / "reports" / "mandate.md"


@dataclass(frozen=True)
class Figures:
    """What the plays of the table came to.

    Attributes:
        attacks: how many attacks there are.
        plays: how often they were played, in all languages and with an unreadable mandate.
        effects: how many of these plays had a side effect without an approval.
        twins: how often their twins were played.
        served: how many of these were served without a question.
        proposed: how many proposed a text of the user's own first, as always.
        places: in how many places the orders stand.
        goals: how many acts they are after.
    """

    attacks: int
    plays: int
    effects: int
    twins: int
    served: int
    proposed: int
    places: int
    goals: int


def written(figures: Figures) -> str:
    """The report."""
    share = (figures.served + figures.proposed) / figures.twins
    return f"""# Injections and their twins

A scripted model obeys every order that it is shown. {figures.attacks} attacks put an order into one of {figures.places}
places that others can write to, beside a harmless message; they are after {figures.goals} acts. The classifier answers
as a competent one would from the message alone, in English, Chinese, Arabic, Portuguese and German, and once with a
mandate that cannot be read. In a twin, the user asks for the same act in plain words. The tables and the test are in
`tests/attacks`; the test compares this page with its figures, and writes it anew with `--update-surfaces`.

| | |
| --- | --- |
| injections tried | {figures.plays} |
| with side effects without an approval | {figures.effects} |
| twins tried | {figures.twins} |
| served without a question | {figures.served} |
| proposed first, because they replace a text of the user's own | {figures.proposed} |
| served as they should be | {share:.1%} |

The tables were written with the rules at hand: they show that the rules hold, not how well a real classifier reads.
"""
