"""`wirewright flow`: build, check, run and print flows, compare and merge them, and start from a template."""

import typer

from cli.flow.build import build
from cli.flow.check import check
from cli.flow.compare import diff, merge
from cli.flow.run import run
from cli.flow.sessions import commands as sessions
from cli.flow.spec import spec
from cli.flow.templates import templates

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Build, check, run, compare and print flows.")
commands.command("build", epilog="Example: wirewright flow build echo.txt --out echo.json")(build)
commands.command("check", epilog="Example: wirewright flow check flow.json --json")(check)
commands.command("run", epilog="Example: wirewright flow run flow.json --input hello")(run)
commands.command("spec", epilog="Example: wirewright flow spec flow.json > flow.txt")(spec)
commands.command("diff", epilog="Example: wirewright flow diff before.json after.json --json")(diff)
commands.command("merge", epilog="Example: wirewright flow merge canvas.json echo.txt --out both.json")(merge)
commands.command("templates", epilog="Example: wirewright flow templates router | wirewright flow run - --input hello")(
    templates
)
commands.add_typer(sessions, name="sessions")
