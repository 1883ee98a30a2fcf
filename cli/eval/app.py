"""`wirewright eval`: play scenarios, score the attempts, compare plays."""

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.eval import compare, conversations, export, imports, judge, mutate, report, run, score, show
from cli.eval import fix as eval_fix
from cli.eval.selection import use_folder

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Play scenarios and score the attempts.")


@commands.callback()
def group(
    scenarios: Annotated[
        str | None, typer.Option(metavar="DIR", help="Your own scenarios, instead of the built-in ones.")
    ] = None,
) -> None:
    """Play scenarios and score the attempts."""
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        fix = "Install it: uv pip install 'wirewright[evals]'."
        raise CommandError("extra_missing", "Evaluations need the extra `evals`.", fix=fix)
    if scenarios is not None and not Path(scenarios).is_dir():
        message = f"{scenarios} is not a directory."
        raise BadUsage("no_folder", message, fix="Name a directory of scenarios.", where="--scenarios")
    use_folder(None if scenarios is None else Path(scenarios))


commands.command("run", epilog="Example: wirewright eval run --player demo --tag edit --out attempts.jsonl")(run.run)
commands.command("score", epilog="Example: wirewright eval score attempts.jsonl --out scores.jsonl")(score.score)
commands.command("compare", epilog="Example: wirewright eval compare before.jsonl after.jsonl")(compare.compare)
commands.command("list", epilog="Example: wirewright eval list --tag branch")(show.list_scenarios)
commands.command("show", epilog="Example: wirewright eval show echo --in attempts.jsonl")(show.show)
commands.command("report", epilog="Example: wirewright eval report attempts.jsonl --out report.html --out junit.xml")(
    report.report
)
commands.command("mutate", epilog="Example: wirewright eval mutate attempts.jsonl --per-operator 2")(mutate.mutate)
commands.command("judge", epilog="Example: wirewright eval judge attempts.jsonl --model provider:name --rubric goal")(
    judge.judge
)
commands.command("export", epilog="Example: LOGFIRE_TOKEN=... wirewright eval export attempts.jsonl")(export.export)
commands.add_typer(imports.commands, name="import")
commands.command("fix", epilog="Example: wirewright eval fix attempts.jsonl --out fixes.jsonl")(eval_fix.fix)
commands.command("conversations", epilog="Example: wirewright eval conversations build-run-then-undo")(
    conversations.conversations
)
