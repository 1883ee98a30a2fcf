"""`wirewright eval`: play scenarios, score what came of them, compare plays."""

import typer

from cli import eval_compare, eval_mutate, eval_report, eval_run, eval_score, eval_show
from cli.failures import Stopped

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Play scenarios and score what came of them.")


@commands.callback()
def group() -> None:
    """Play scenarios and score what came of them."""
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        fix = "Install it: uv pip install 'wirewright[evals]'."
        raise Stopped("extra_missing", "Evaluations need the extra `evals`.", fix=fix)


commands.command("run", epilog="Example: wirewright eval run --player demo --tag edit --out attempts.jsonl")(
    eval_run.run
)
commands.command("score", epilog="Example: wirewright eval score attempts.jsonl --out scores.jsonl")(eval_score.score)
commands.command("compare", epilog="Example: wirewright eval compare before.jsonl after.jsonl")(eval_compare.compare)
commands.command("list", epilog="Example: wirewright eval list --tag branch")(eval_show.list_scenarios)
commands.command("show", epilog="Example: wirewright eval show echo --in attempts.jsonl")(eval_show.show)
commands.command("report", epilog="Example: wirewright eval report attempts.jsonl --out report.html --out junit.xml")(
    eval_report.report
)
commands.command("mutate", epilog="Example: wirewright eval mutate attempts.jsonl --per-operator 2")(eval_mutate.mutate)
