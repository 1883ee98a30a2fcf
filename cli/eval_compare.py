"""`wirewright eval compare`: what changed from one play to another."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.eval_choice import readable, verdicts_of
from cli.failures import FAILED
from cli.options import Json

if TYPE_CHECKING:
    from evals.compare import Difference


def compare(
    before: Annotated[str, typer.Argument(metavar="A", help="Scores or attempts, as JSON lines.")],
    after: Annotated[str, typer.Argument(metavar="B", help="Scores or attempts, as JSON lines.")],
    *,
    as_json: Json = False,
) -> None:
    """Compare two plays; exits 1 when something passed in A and does not in B."""
    from cli.output import answer, document
    from evals import compare as comparing

    difference = comparing.compare(verdicts_of(readable(before)), verdicts_of(readable(after)))
    if as_json:
        document({"ok": not difference.lost, "same": difference.same, **difference.model_dump(mode="json")})
    else:
        for line in _lines(difference):
            answer(line)
    if difference.lost:
        raise typer.Exit(FAILED)


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
