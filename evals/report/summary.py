"""The result of a play: a table and lines for people."""

from rich.table import Table
from rich.text import Text

from evals.analysis.tally import Tally
from evals.attempt import attempt_label
from evals.score import PASSED

COLUMNS = ("built", "ran", "resolved", "preserved", "honest", "nodes", "edges", "values")
"""The scores in the table; the JSON has all of them."""


def table(result: Tally, player: str) -> Table:
    """Verdicts as a table."""
    view = Table(title=f"player: {player}", title_justify="left", show_footer=True)
    view.add_column("scenario", footer=f"{len(result.verdicts)} played", no_wrap=True)
    view.add_column("passed", footer=percent(result.pass_rate), justify="center")
    for name in COLUMNS:
        view.add_column(name, footer=percent(result.rates[name]), justify="center")
    view.add_column("seconds", justify="right")
    for verdict in result.verdicts:
        cells = [mark(verdict.value(name)) for name in (PASSED, *COLUMNS)]
        view.add_row(attempt_label(verdict.scenario, verdict.repeat), *cells, f"{verdict.measured.seconds:.2f}")
    return view


def reasons(result: Tally) -> list[str]:
    """Why attempts did not pass, one per line."""
    return [f"{verdict.scenario}: {verdict.why}" for verdict in result.verdicts if verdict.why]


def means(result: Tally) -> list[str]:
    """The mean of every score, in one line."""
    return ["means: " + ", ".join(f"{name} {percent(rate)}" for name, rate in result.rates.items())]


def mark(value: bool | float | None) -> Text:  # noqa: FBT001  (a score, not a switch)
    """A score as a short text."""
    match value:
        case None:
            return Text("-", style="dim")
        case bool():
            return Text("yes", style="green") if value else Text("no", style="red")
        case float() | int():
            return Text(f"{value:.2f}")


def summary(result: Tally, min_pass_rate: float) -> str:
    """The result in one line."""
    wanted = f"; at least {percent(min_pass_rate)} wanted" if min_pass_rate else ""
    played = result.scored + result.harness_errors
    of_judged = " of those judged" if result.harness_errors else ""
    errors = f", {result.harness_errors} not judged: the harness failed" if result.harness_errors else ""
    return f"passed {result.passed} of {played}{errors} ({percent(result.pass_rate)}{of_judged}{wanted})"


def interval(result: Tally) -> list[str]:
    """The interval of the pass rate, in one line; none if nothing was scored."""
    found = result.estimate
    if found is None:
        return []
    clusters = f"{found.clusters} {'cluster' if found.clusters == 1 else 'clusters'}"
    scenarios = f"{found.scenarios} {'scenario' if found.scenarios == 1 else 'scenarios'}"
    return [f"95% interval of the pass rate: {found.span}, over {clusters} of {scenarios}"]


def percent(share: float | None) -> str:
    """A share from 0 to 1 in percent."""
    return "-" if share is None else f"{share:.0%}"
