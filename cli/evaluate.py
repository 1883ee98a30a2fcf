"""`wirewright eval`: play scenarios, score what came of them, compare plays."""

import typer

from cli import eval_compare, eval_report, eval_run, eval_score, eval_show

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Play scenarios and score what came of them.")


@commands.callback()
def group() -> None:
    """Play scenarios and score what came of them."""


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
