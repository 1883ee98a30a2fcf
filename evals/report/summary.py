"""The result of a play: a table and lines for people."""

from rich.table import Table
from rich.text import Text

from evals.analysis.tally import Tally
from evals.attempt import attempt_label
from evals.score import EVALUATORS, PASSED

COLUMNS = ("finished", "built", "ran", "resolved", "behaves", "preserved", "honest", "nodes", "edges", "values")
"""The scores in the table, beside those of the user's own evaluators; the JSON has all of them."""


def columns(result: Tally) -> list[str]:
    """The scores in the table of a play."""
    return [*COLUMNS, *(name for name in result.rates if name not in EVALUATORS)]


def table(result: Tally, player: str) -> Table:
    """Verdicts as a table; when there are several players, each row says whose it is."""
    several = _several(result)
    view = Table(title=f"player: {player}", title_justify="left", show_footer=True)
    view.add_column("scenario", footer=f"{len(result.verdicts)} played", no_wrap=True)
    if several:
        view.add_column("player", overflow="fold")
    view.add_column("passed", footer=percent(result.pass_rate), justify="center")
    names = columns(result)
    for name in names:
        view.add_column(name, footer=percent(result.rates[name]), justify="center")
    view.add_column("seconds", justify="right")
    for verdict in result.verdicts:
        cells = [mark(verdict.value(name)) for name in (PASSED, *names)]
        whose = [Text(verdict.player)] if several else []
        label = attempt_label(verdict.scenario, verdict.repeat)
        view.add_row(label, *whose, *cells, f"{verdict.measured.seconds:.2f}")
    return view


def reasons(result: Tally) -> list[str]:
    """Why attempts did not pass, and which evaluators of the user's own failed, one per line."""
    several = _several(result)
    named = [(f"{one.scenario} ({one.player})" if several else one.scenario, one) for one in result.verdicts]
    why = [f"{name}: {verdict.why}" for name, verdict in named if verdict.why]
    broken = [
        f"{label}: {name} is not scored: {error}"
        for label, verdict in named
        for name, error in verdict.evaluator_errors.items()
        if name not in verdict.required
    ]
    return [*why, *broken]


def _several(result: Tally) -> bool:
    return len({verdict.player for verdict in result.verdicts}) > 1


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
    undecided = sum(bool(verdict.undecided) for verdict in result.verdicts)
    played = result.scored + result.harness_errors + undecided
    of_judged = " of those judged" if result.harness_errors or undecided else ""
    errors = f", {result.harness_errors} not judged: the harness failed" if result.harness_errors else ""
    errors += f", {undecided} undecided: only words could decide" if undecided else ""
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
