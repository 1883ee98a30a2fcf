"""The report of one play: a table for people, a document for programs."""

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from evals.evaluators import Score
from evals.scenario import Scenario
from evals.score import EVALUATORS, Tally, Verdict


def table(result: Tally, player: str) -> Table:
    """Verdicts and rates as a table."""
    view = Table(title=f"player: {player}", title_justify="left", show_footer=True)
    view.add_column("scenario", footer=f"{len(result.verdicts)} played", no_wrap=True)
    for name in EVALUATORS:
        view.add_column(name, footer=percent(result.rates[name]), justify="center")
    view.add_column("seconds", justify="right")
    for verdict in result.verdicts:
        cells = [mark(score) for score in verdict.scores]
        name = verdict.scenario if not verdict.repeat else f"{verdict.scenario} #{verdict.repeat + 1}"
        view.add_row(name, *cells, f"{verdict.seconds:.2f}")
    return view


def reasons(result: Tally) -> list[str]:
    """Why attempts did not pass, a line each."""
    return [f"{verdict.scenario}: {reason}" for verdict in result.verdicts if (reason := why(verdict))]


def mark(score: Score) -> Text:
    """A score in one short word."""
    match score.value:
        case None:
            return Text("-", style="dim")
        case bool():
            return Text("yes", style="green") if score.value else Text("no", style="red")
        case float() | int():
            return Text(f"{score.value:.2f}")


def why(verdict: Verdict) -> str:
    """Why an attempt did not pass; empty when it did."""
    if verdict.harness_error is not None:
        return f"harness: {verdict.harness_error}"
    return "; ".join(f"{score.name}: {score.reason}" for score in verdict.scores if score.value is False)


def summary(result: Tally, least: float) -> str:
    """The result in one line."""
    line = f"{result.passed} of {result.scored} passed ({percent(result.pass_rate)}; at least {percent(least)} wanted)"
    errors = result.harness_errors
    return f"{line}; {errors} not scored, the harness failed" if errors else line


def percent(share: float | None) -> str:
    """A share from 0 to 1 in words."""
    return "-" if share is None else f"{share:.0%}"


def report_json(result: Tally, scenarios: Sequence[Scenario], player: str, least: float) -> dict[str, object]:
    """The report as a JSON document.

    Args:
        result: the counted verdicts.
        scenarios: what was played, for the tags.
        player: who played.
        least: the lowest pass rate that would do.
    """
    tags: Mapping[str, tuple[str, ...]] = {scenario.id: scenario.tags for scenario in scenarios}
    return {
        "ok": result.meets(least),
        "player": player,
        "min_pass": least,
        "pass_rate": result.pass_rate,
        "passed": result.passed,
        "scored": result.scored,
        "harness_errors": result.harness_errors,
        "rates": result.rates,
        "attempts": [
            {**verdict.model_dump(mode="json"), "tags": list(tags.get(verdict.scenario, ()))}
            for verdict in result.verdicts
        ],
    }
