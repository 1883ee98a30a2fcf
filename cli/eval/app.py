"""`wirewright eval`: play scenarios, score the attempts, compare plays."""

from pathlib import Path
from typing import Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.eval import check, compare, conversations, export, imports, mutate, report, results, run, score, show
from cli.eval import fix as eval_fix
from cli.eval.judging import calibrate, judge
from cli.eval.pack import app as pack_commands
from cli.eval.play.selection import use_folder
from cli.help.group import CommandGroup

commands = CommandGroup("Play scenarios and score the attempts.")


@commands.callback()
def group(
    context: typer.Context,
    scenarios: Annotated[
        str | None, typer.Option(metavar="DIR", help="Your own scenarios, instead of the built-in ones.")
    ] = None,
) -> None:
    """Play scenarios and score the attempts."""
    from importlib.util import find_spec

    if find_spec("scipy") is None and context.invoked_subcommand != "results":
        fix = "Install it: uv pip install 'wirewright[evals]'."
        raise CommandError("extra_missing", "Evaluations need the extra `evals`.", fix=fix)
    if scenarios is not None and not Path(scenarios).is_dir():
        message = f"{scenarios} is not a directory."
        raise BadUsage("no_folder", message, fix="Name a directory of scenarios.", where="--scenarios")
    use_folder(None if scenarios is None else Path(scenarios))


commands.add(
    "run",
    "wirewright eval run --scenario build-only --out attempts.jsonl",
    "wirewright eval run --player oracle --tag echo",
)(run.run)
commands.add("score", "wirewright eval score attempts.jsonl --out scores.jsonl")(score.score)
commands.add(
    "check",
    "wirewright eval check echo echo.flow",
    "wirewright eval check echo echo.json --differences 10 --json",
)(check.check)
commands.add("compare", "wirewright eval compare before.jsonl attempts.jsonl")(compare.compare)
commands.add("list", "wirewright eval list --tag branch", "wirewright eval list --split test --check")(
    show.list_scenarios
)
commands.add("show", "wirewright eval show build-only --in attempts.jsonl")(show.show)
commands.add(
    "report",
    "wirewright eval report attempts.jsonl",
    "wirewright eval report attempts.jsonl --out report.html --out junit.xml",
)(report.report)
commands.add("mutate", "wirewright eval mutate attempts.jsonl --per-operator 2")(mutate.mutate)
commands.add("judge", "wirewright eval judge attempts.jsonl --model openai:gpt-6-luna --rubric goal")(judge.judge)
commands.add("calibrate", "wirewright eval calibrate openai:gpt-6-luna --out gpt-6-luna.json")(calibrate.calibrate)
commands.add(
    "export",
    "LOGFIRE_TOKEN=pylf_... wirewright eval export attempts.jsonl",
    "wirewright eval export attempts.jsonl --to inspect --out logs",
    "wirewright eval export attempts.jsonl --to markdown --out comment.md",
)(export.export)
commands.add_typer(imports.commands, name="import")
commands.add_typer(pack_commands.commands, name="pack")
commands.add_typer(results.commands, name="results")
commands.add("fix", "wirewright eval fix attempts.jsonl --out fixes.jsonl")(eval_fix.fix)
commands.add("conversations", "wirewright eval conversations build-run-then-undo")(conversations.conversations)
