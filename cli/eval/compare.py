"""`wirewright eval compare`: what changed from one play to another."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.eval.play.selection import check_player, readable, verdicts_of
from cli.options import Json
from cli.output.columns import print_lines
from cli.output.streams import print_json

if TYPE_CHECKING:
    from evals.analysis.comparison import Difference
    from evals.score import Verdict


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="Scores or attempts, as JSON lines.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Scores or attempts, as JSON lines.")],
    player: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The player to compare; give it twice to choose one for A and one for B."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Test this score; may be given several times, and all are adjusted together."
        ),
    ] = None,
    statistical: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool,
        typer.Option(
            "--statistical", help="For sampled models: exit 1 only when a tested score fell by more than chance."
        ),
    ] = False,
    *,
    as_json: Json = False,
) -> None:
    """Compare two plays; exits 1 when something passed in A and does not in B."""
    from cli.documents.evals import PlaysCompared
    from cli.eval.play.summary import significance_lines
    from evals.analysis import comparison as comparing
    from evals.analysis.metrics import DECLARED
    from evals.analysis.significance import objections, significance

    metrics = _metrics(metric or [])
    names = player or []
    if len(names) > 2:
        fix = "Name one player for both files, or one for each."
        raise BadUsage("too_many_players", "--player was given more than twice.", fix=fix, where="--player")
    first, second = (
        _of_player(verdicts_of(readable(file)), names[number % len(names)] if names else None, file)
        for number, file in enumerate((before, after))
    )
    difference = comparing.compare(first, second)
    found = significance(first, second, metrics or DECLARED)
    ok = not objections(found) if statistical else not difference.lost
    if as_json:
        print_json(
            PlaysCompared(
                ok=ok,
                same=difference.same,
                lost=[*difference.lost],
                gained=[*difference.gained],
                moved=[*difference.moved],
                added=[*difference.added],
                missing=[*difference.missing],
                changed=[*difference.changed],
                rates=difference.rates,
                significance=found,
            )
        )
    else:
        for line in (*_lines(difference), *significance_lines(found)):
            print_lines(line)
    if not ok:
        raise typer.Exit(FAILED)


def _of_player(verdicts: "list[Verdict]", name: str | None, file: str) -> "list[Verdict]":
    """One player's verdicts; those of several players at one scenario would be confused."""
    players = sorted({verdict.player for verdict in verdicts})
    if name is None and len(players) > 1:
        fix = f"Name one with --player: {', '.join(players)}."
        raise BadUsage("several_players", f"{file} holds several players.", fix=fix, where=file)
    if name is not None:
        check_player(name, verdicts, file, "--player")
    return [verdict for verdict in verdicts if name in (None, verdict.player)]


def _metrics(names: list[str]) -> list[str]:
    from evals.score import METRICS

    for name in names:
        if name not in METRICS:
            from flows.faults import did_you_mean

            fix = did_you_mean(name, METRICS, otherwise="known scores")
            raise BadUsage("unknown_score", f"Unknown score: {name}.", fix=fix, where="--metric")
    return names


def _lines(difference: "Difference") -> list[str]:
    if difference.same:
        return ["The two plays have the same scores."]
    lines = [f"lost    {turned.scenario}: {'; '.join(turned.why)}" for turned in difference.lost]
    lines += [f"gained  {turned.scenario}: was {'; '.join(turned.why)}" for turned in difference.gained]
    lines += [
        f"moved   {moved.scenario}: {moved.name} {_value(moved.before)} -> {_value(moved.after)}"
        for moved in difference.moved
    ]
    for word, names in (
        ("added  ", difference.added),
        ("missing", difference.missing),
        ("changed", difference.changed),
    ):
        lines += [f"{word} {name}" for name in names]
    lines += [
        f"mean    {name} {_value(old)} -> {_value(new)}" for name, (old, new) in difference.rates.items() if old != new
    ]
    return lines


def _value(value: "bool | float | None") -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case _:
            return f"{value:.3f}"
