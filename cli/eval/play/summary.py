"""The summary of a scored play: a table and reasons for people, a document for programs."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output.columns import output_width, print_lines
from cli.output.files import note_replaced, write_text
from cli.output.streams import is_live, print_json, print_result, print_styled

if TYPE_CHECKING:
    from cli.documents.evals import TaggedVerdict
    from evals.analysis.significance import Significance
    from evals.gate import Gate, GateResult
    from evals.scenario import Scenario
    from evals.score import Verdict

UNBOUNDED = 10_000
"""Columns in which every table fits."""


class EvalSummary:
    """A scored play, checked against a least pass rate and a gate.

    Args:
        verdicts: the scored attempts.
        scenarios: what was played, for the tags.
        player: who played.
        min_pass: the least share that must pass.
        gate: the gate and its baseline.
        not_played: how many attempts were left out when the cost limit was reached; such a play never passes.
    """

    def __init__(
        self,
        verdicts: "Sequence[Verdict]",
        scenarios: "Sequence[Scenario]",
        player: str,
        *,
        min_pass: float = 0.0,
        gate: "tuple[Gate, tuple[Verdict, ...]] | None" = None,
        not_played: int = 0,
    ) -> None:
        from evals.analysis.tally import tally
        from evals.gate import check_gate

        self._result = tally(verdicts)
        self._scenarios = scenarios
        self._player = player
        self._min_pass = min_pass
        self._not_played = not_played
        self._gate: GateResult | None = None if gate is None else check_gate(*gate, verdicts)

    @property
    def ok(self) -> bool:
        """Whether everything was played, enough passed and the gate is passed."""
        return not self._not_played and self._result.meets(self._min_pass) and (self._gate is None or self._gate.ok)

    def write_junit(self, target: Path | None) -> None:
        """Write it as JUnit XML, if a file is named."""
        if target is None:
            return
        from evals.report.formats.junit import verdicts_as_junit

        note_replaced(target)
        write_text(target, verdicts_as_junit("wirewright eval", self._result.verdicts, self._gate), "--junit")

    def show(self, *, as_json: bool) -> None:
        """Write it on standard output."""
        from cli.documents.evals import Summed
        from evals.analysis.cost import total
        from evals.analysis.significance import repeated
        from evals.report.summary import interval, means, reasons, summary

        verdicts, gate, found = self._result.verdicts, self._gate, self._result.estimate
        cost, repeats = total(verdict.measured.cost for verdict in verdicts), repeated(verdicts)
        if as_json:
            print_json(
                Summed(
                    ok=self.ok,
                    player=self._player,
                    min_pass=self._min_pass,
                    pass_rate=self._result.pass_rate,
                    interval=None if found is None else [found.low, found.high],
                    clusters=0 if found is None else found.clusters,
                    passed=self._result.passed,
                    scored=self._result.scored,
                    harness_errors=self._result.harness_errors,
                    rates=self._result.rates,
                    attempts=self._attempts(),
                    gate=gate,
                    repeated=list(repeats),
                    cost=cost,
                    not_played=self._not_played,
                )
            )
            return
        self._show_attempts()
        lines = [*reasons(self._result), *means(self._result), summary(self._result, self._min_pass)]
        lines += interval(self._result)
        if cost is not None:
            lines.append(f"cost: ${cost:.4f}")
        if self._not_played:
            lines.append(f"{self._not_played} attempts were not played: the cost limit was reached; --resume continues")
        lines += [f"pass@{one.k} {one.at_least_one:.1%}, pass^{one.k} {one.every_one:.1%}" for one in repeats]
        if gate is not None:
            lines += [] if gate.significance is None else significance_lines(gate.significance)
            lines += [*(f"gate: {reason}" for reason in gate.reasons), *gate.improvements]
            lines.append("The gate is passed." if gate.ok else "The gate is not passed.")
        for line in lines:
            print_lines(line)

    def _show_attempts(self) -> None:
        """Write the scores of every attempt: as a table, or where it would not fit, as wrapped lines."""
        from rich.console import Console

        from evals.attempt import attempt_label
        from evals.report.summary import columns, mark, table
        from evals.score import PASSED

        names = columns(self._result)
        view, width = table(self._result, self._player), output_width()
        needed = Console(width=UNBOUNDED).measure(view).maximum
        if width is None or needed <= width:
            console = Console(width=needed, color_system="auto" if is_live(sys.stdout) else None)
            with console.capture() as shown:  # rich would end the process when its reader leaves
                console.print(view)
            print_styled(shown.get().removesuffix("\n"))
            return
        print_result(f"player: {self._player}")
        for verdict in self._result.verdicts:
            scores = ", ".join(f"{name} {mark(verdict.value(name)).plain}" for name in (PASSED, *names))
            label = attempt_label(verdict.scenario, verdict.repeat)
            print_lines(f"{label}: {scores}; {verdict.measured.seconds:.2f} s")

    def _attempts(self) -> "list[TaggedVerdict]":
        from cli.documents.evals import TaggedVerdict

        tags = {scenario.id: scenario.tags for scenario in self._scenarios}
        return [
            TaggedVerdict.model_validate({**verdict.model_dump(), "tags": tags.get(verdict.scenario, ())})
            for verdict in self._result.verdicts
        ]


def significance_lines(found: "Significance") -> list[str]:
    """The tests of two plays, one per line."""
    lines = [f"test    {one}" for one in found.tested]
    lines += [f"test    {metric} could not be tested" for metric in found.untested]
    return [*lines, *(f"flaky   {name}" for name in found.flaky)]
