"""`wirewright eval calibrate`: measure a judge model on labelled answers, so that it may decide."""

import asyncio
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import CommandError
from cli.eval.judging.judge import judge_model, labelled
from cli.options import Json
from cli.output.files import note_replaced, writable, write_text
from cli.output.streams import print_json, print_result, progress

if TYPE_CHECKING:
    from evals.calibration.agreement import Judged, Share
    from evals.calibration.calibration import Calibration


def calibrate(
    judge: Annotated[str, typer.Argument(metavar="JUDGE", help="The judge, as provider:name.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Store the calibration there, for eval judge --calibration.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option(metavar="DIR", help="Your own labelled answers, instead of the built-in ones.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Questions at the same time.")] = 4,
    *,
    as_json: Json = False,
) -> None:
    """Measure a judge on labelled answers: agreement, sensitivity, specificity and kappa, with their intervals."""
    from cli.documents.evals import Calibrated
    from evals.calibration.calibration import calibrate as measure
    from evals.exports import MissingExtra

    target, rows, model = writable(out), labelled(answers), judge_model(judge, where="JUDGE")
    report, judged = progress(), count(1)

    async def one(_: "Judged") -> None:
        report(f"{next(judged)} of {len(rows)} judged")

    try:
        at = datetime.now(UTC).date().isoformat()
        found = asyncio.run(measure(rows, model, at, concurrency=concurrency, on_judged=one))
    except MissingExtra as missing:
        raise CommandError("extra_needed", f"{missing}.", fix="Install wirewright[evals].") from None
    if target is not None:
        note_replaced(target)
        write_text(target, f"{found.model_dump_json(indent=2)}\n")
    why_not = found.why_not(found.judge, rows)
    if as_json:
        print_json(Calibrated(decides=not why_not, why_not=why_not, calibration=found))
        return
    for line in _lines(found):
        print_result(line)
    print_result(f"{found.judge} may decide" if not why_not else f"{found.judge} may not decide: {why_not}")


def _lines(found: "Calibration") -> list[str]:
    measured, kappa = found.agreement, found.agreement.kappa
    rows: list[tuple[str, Share]] = [
        ("agreement", measured.accuracy),
        ("sensitivity", measured.sensitivity),
        ("specificity", measured.specificity),
        *found.languages.items(),
        *((f"trap {name}", share) for name, share in found.traps.items()),
    ]
    lines = [f"{name:<20}{_shown(share)}" for name, share in rows]
    lines.insert(3, f"{'kappa':<20}{kappa.value:.2f} ({kappa.low:.2f}–{kappa.high:.2f})")
    if measured.unanswered:
        lines.append(f"{measured.unanswered} answers were not judged; they count as wrong")
    return lines


def _shown(share: "Share") -> str:
    return "-" if share.value is None else f"{share.value:.1%} ({share.low:.1%}–{share.high:.1%}) of {share.count}"
