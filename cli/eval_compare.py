"""`wirewright eval compare`: what changed from one play to another."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.eval_choice import readable, verdicts_of
from cli.failures import FAILED, BadUsage
from cli.options import Json

if TYPE_CHECKING:
    from evals.compare import Difference


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="Scores or attempts, as JSON lines.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Scores or attempts, as JSON lines.")],
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
    from cli.eval_told import tested
    from cli.output import answer, document
    from evals import compare as comparing
    from evals.significance import DECLARED, objections, significance

    metrics = _metrics(metric or [])
    first, second = verdicts_of(readable(before)), verdicts_of(readable(after))
    difference = comparing.compare(first, second)
    found = significance(first, second, metrics or DECLARED)
    ok = not objections(found) if statistical else not difference.lost
    if as_json:
        statistics = found.model_dump(mode="json")
        document({"ok": ok, "same": difference.same, **difference.model_dump(mode="json"), "significance": statistics})
    else:
        for line in (*_lines(difference), *tested(found)):
            answer(line)
    if not ok:
        raise typer.Exit(FAILED)


def _metrics(names: list[str]) -> list[str]:
    from evals.significance import METRICS

    for name in names:
        if name not in METRICS:
            from flows.faults import did_you_mean

            fix = did_you_mean(name, METRICS, otherwise="there are")
            raise BadUsage("unknown_score", f"There is no score {name!r}.", fix=fix, where="--metric")
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
