"""The decision of a gate about each player of a play."""

from __future__ import annotations

from dataclasses import dataclass

from evals.gate import Gate, check_gate
from evals.report.clipping import line
from evals.report.play import Play
from evals.score import Verdict

LONGEST = 600
"""The most characters of a reason that are shown."""


@dataclass(frozen=True)
class GateDecision:
    """The decision of the gate about one player.

    Attributes:
        reasons: why the player does not pass, one per line.
        improvements: what is better than in the gate's baseline, one per line; `news` in JSON.
    """

    name: str
    ok: bool
    reasons: tuple[str, ...]
    improvements: tuple[str, ...]


def decisions(play: Play, gate: tuple[Gate, tuple[Verdict, ...]] | None) -> tuple[GateDecision, ...]:
    """Check each player against a gate, as `eval run --gate` does with its player.

    Args:
        gate: the gate and the verdicts of its baseline; None decides nothing.
    """
    if gate is None:
        return ()
    found: list[GateDecision] = []
    for name in play.columns:
        verdicts = [entry.verdict for entry in play.entries if entry.column == name]
        judged = check_gate(*gate, verdicts)
        said = (tuple(line(text, LONGEST) for text in lines) for lines in (judged.reasons, judged.improvements))
        found.append(GateDecision(name, judged.ok, *said))
    return tuple(found)
