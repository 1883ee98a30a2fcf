"""What the `eval` commands tell of a play: a table and reasons for people, a document for programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evals.analysis.significance import Significance
    from evals.gate import Gate, GateResult
    from evals.scenario import Scenario
    from evals.score import Verdict

WIDTH = 110
"""Columns that the table needs; a narrower terminal wraps its lines."""


class EvalSummary:
    """A scored play, held against a bar and a gate.

    Args:
        verdicts: what came of it.
        scenarios: what was played, for the tags.
        player: who played.
        least: the lowest share that must pass.
        gate: the gate and its baseline.
        not_played: how many attempts were left out when the ceiling was reached; such a play never gets through.
    """

    def __init__(
        self,
        verdicts: "Sequence[Verdict]",
        scenarios: "Sequence[Scenario]",
        player: str,
        *,
        least: float = 0.0,
        gate: "tuple[Gate, tuple[Verdict, ...]] | None" = None,
        not_played: int = 0,
    ) -> None:
        from evals.analysis.tally import tally
        from evals.gate import check_gate

        self._result = tally(verdicts)
        self._scenarios = scenarios
        self._player = player
        self._least = least
        self._not_played = not_played
        self._passage: GateResult | None = None if gate is None else check_gate(*gate, verdicts)

    @property
    def ok(self) -> bool:
        """Whether everything was played, the bar is met and the gate is passed."""
        return not self._not_played and self._result.meets(self._least) and (self._passage is None or self._passage.ok)

    def tell(self, *, as_json: bool) -> None:
        """Write it on standard output."""
        from cli.output.streams import answer, document
        from evals.analysis.significance import repeated
        from evals.report.summary import means, reasons, report_json, summary, table

        if as_json:
            report = report_json(self._result, self._scenarios, self._player, self._least)
            gate = None if self._passage is None else self._passage.model_dump(mode="json")
            more = [one.model_dump(mode="json") for one in repeated(self._result.verdicts)]
            document({**report, "ok": self.ok, "gate": gate, "repeated": more, **self._taken()})
            return
        from rich.console import Console

        console = Console()
        Console(width=max(console.width, WIDTH)).print(table(self._result, self._player))
        for line in (*reasons(self._result), *means(self._result), summary(self._result, self._least)):
            answer(line)
        for line in self._cut_short():
            answer(line)
        for line in _sampled(self._result.verdicts, None if self._passage is None else self._passage.significance):
            answer(line)
        if self._passage is not None:
            lines = (*(f"gate: {reason}" for reason in self._passage.reasons), *self._passage.news)
            for line in (*lines, "The gate is passed." if self._passage.ok else "The gate is not passed."):
                answer(line)

    def _taken(self) -> dict[str, object]:
        from evals.analysis.cost import total

        return {
            "cost": total(verdict.measured.cost for verdict in self._result.verdicts),
            "not_played": self._not_played,
        }

    def _cut_short(self) -> list[str]:
        spent = self._taken()["cost"]
        lines = [] if spent is None else [f"cost: ${spent:.4f}"]
        if self._not_played:
            lines.append(f"{self._not_played} attempts were not played: the ceiling was reached; --resume goes on")
        return lines


def _sampled(verdicts: "Sequence[Verdict]", found: "Significance | None") -> list[str]:
    """What repeats and tests say, a line each; nothing for a play without either."""
    from evals.analysis.significance import repeated

    lines = [f"pass@{one.k} {one.at_least_one:.1%}, pass^{one.k} {one.every_one:.1%}" for one in repeated(verdicts)]
    return lines if found is None else [*lines, *significance_lines(found)]


def significance_lines(found: "Significance") -> list[str]:
    """The tests of two plays, a line each."""
    lines = [f"test    {one}" for one in found.tested]
    lines += [f"test    {metric} could not be tested" for metric in found.untested]
    return [*lines, *(f"flaky   {name}" for name in found.flaky)]
