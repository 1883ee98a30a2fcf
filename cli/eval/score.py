"""`wirewright eval score`: score a journal again; nothing is played."""

from typing import Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import FAILED
from cli.eval.selection import all_scenarios, attempts_of, gate_of, readable, scored
from cli.options import Json


def score(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="Attempts, as `eval run --out` writes them.")],
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every verdict there, as JSON lines (scores.jsonl).")
    ] = None,
    baseline: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool, typer.Option("--baseline", help="Leave out what differs each time, for a file that is committed.")
    ] = False,
    min_pass: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Exit 1 when a smaller share of the attempts passes.")
    ] = 0.0,
    gate: Annotated[str | None, typer.Option(metavar="FILE", help="Exit 1 when this gate is not passed.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Score the attempts of a journal."""
    from cli.eval.summary import EvalSummary
    from cli.output.files import writable
    from evals.analysis.tally import write_verdicts

    target = writable(out)
    held = gate_of(gate)
    attempts = attempts_of(readable(journal))
    verdicts = scored(attempts, ready_catalogue())
    if target is not None:
        write_verdicts(target, verdicts, measured=not baseline)
    player = ", ".join(sorted({attempt.player for attempt in attempts}))
    told = EvalSummary(verdicts, all_scenarios(), player, least=min_pass, gate=held)
    told.tell(as_json=as_json)
    if not told.ok:
        raise typer.Exit(FAILED)
