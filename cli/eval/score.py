"""`wirewright eval score`: score a journal again; nothing is played."""

from typing import Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import FAILED
from cli.eval.play.options import VERDICTS, Evaluators, GateFile, Journal, JUnit, MinPass, PackName, Required
from cli.eval.play.selection import all_scenarios, attempts_of, evaluators_of, gate_of, readable, scored, use_pack
from cli.options import Json
from cli.output.files import note_replaced, writable, writing


def score(
    journal: Journal,
    out: Annotated[str | None, typer.Option(metavar="FILE", help=VERDICTS)] = None,
    baseline: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool, typer.Option("--baseline", help="Omit measurements that vary between runs, for a committed file.")
    ] = False,
    min_pass: MinPass = 0.0,
    gate: GateFile = None,
    junit: JUnit = None,
    evaluator: Evaluators = None,
    require: Required = None,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Score the attempts of a journal."""
    use_pack(pack)
    from cli.eval.play.summary import EvalSummary
    from evals.analysis.tally import write_verdicts

    target, junit_target = writable(out), writable(junit, "--junit")
    loaded_gate = gate_of(gate)
    own = evaluators_of(evaluator, require)
    attempts = attempts_of(readable(journal))
    verdicts = scored(attempts, ready_catalogue(), own)
    if target is not None:
        note_replaced(target)
        with writing(target):
            write_verdicts(target, verdicts, measured=not baseline)
    player = ", ".join(sorted({attempt.player for attempt in attempts}))
    summary = EvalSummary(verdicts, all_scenarios(), player, min_pass=min_pass, gate=loaded_gate)
    summary.write_junit(junit_target)
    summary.show(as_json=as_json)
    if not summary.ok:
        raise typer.Exit(FAILED)
