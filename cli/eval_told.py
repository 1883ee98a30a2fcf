"""What the `eval` commands tell of a play: a table and reasons for people, a document for programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evals.gate import Gate, Passage
    from evals.scenario import Scenario
    from evals.score import Verdict

WIDTH = 110
"""Columns that the table needs; a narrower terminal wraps its lines."""


class Told:
    """A scored play, held against a bar and a gate.

    Args:
        verdicts: what came of it.
        scenarios: what was played, for the tags.
        player: who played.
        least: the lowest share that must pass.
        gate: the gate and its baseline.
    """

    def __init__(
        self,
        verdicts: "Sequence[Verdict]",
        scenarios: "Sequence[Scenario]",
        player: str,
        *,
        least: float = 0.0,
        gate: "tuple[Gate, tuple[Verdict, ...]] | None" = None,
    ) -> None:
        from evals.gate import passage
        from evals.tally import tally

        self._result = tally(verdicts)
        self._scenarios = scenarios
        self._player = player
        self._least = least
        self._passage: Passage | None = None if gate is None else passage(*gate, verdicts)

    @property
    def ok(self) -> bool:
        """Whether the bar is met and the gate is passed."""
        return self._result.meets(self._least) and (self._passage is None or self._passage.ok)

    def tell(self, *, as_json: bool) -> None:
        """Write it on standard output."""
        from cli.output import answer, document
        from evals.report import means, reasons, report_json, summary, table

        if as_json:
            report = report_json(self._result, self._scenarios, self._player, self._least)
            gate = None if self._passage is None else self._passage.model_dump(mode="json")
            document({**report, "ok": self.ok, "gate": gate})
            return
        from rich.console import Console

        console = Console()
        Console(width=max(console.width, WIDTH)).print(table(self._result, self._player))
        for line in (*reasons(self._result), *means(self._result), summary(self._result, self._least)):
            answer(line)
        if self._passage is not None:
            lines = (*(f"gate: {reason}" for reason in self._passage.reasons), *self._passage.news)
            for line in (*lines, "The gate is passed." if self._passage.ok else "The gate is not passed."):
                answer(line)
