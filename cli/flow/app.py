"""`wirewright flow`: build, check, run, test, print, compare and merge flows, and those that others store."""

from cli.flow.build import build
from cli.flow.check import check
from cli.flow.compare import diff, merge
from cli.flow.run import run
from cli.flow.sessions import commands as sessions
from cli.flow.spec import spec
from cli.flow.stored import add_to
from cli.flow.templates import templates
from cli.flow.tests import run_tests
from cli.help.group import CommandGroup
from cli.jobs.schedules import commands as schedules
from cli.langflow.pull import pull
from cli.langflow.push import push

commands = CommandGroup("Build, check, run, test, compare and print flows.")
commands.add(
    "build",
    "wirewright flow build echo.flow --out echo.json",
    "wirewright flow templates router | wirewright flow build -",
)(build)
commands.add("check", "wirewright flow check echo.json")(check)
commands.add(
    "run",
    "wirewright flow run echo.json --input hello",
    "wirewright flow run louder.flow --input hi --tweak prompt.template=Pst",
    "wirewright flow run echo.json --batch inputs.jsonl --out results.jsonl",
)(run)
commands.add(
    "test",
    "wirewright flow test louder.flow --save bye",
    "wirewright flow test louder.flow --junit tests.xml",
)(run_tests)
commands.add("spec", "wirewright flow spec echo.json > echo.flow")(spec)
commands.add("diff", "wirewright flow diff echo.json louder.flow")(diff)
commands.add("merge", "wirewright flow merge echo.json louder.flow --out both.json")(merge)
commands.add(
    "templates",
    "wirewright flow templates",
    "wirewright flow templates router > router.flow",
)(templates)
add_to(commands)
commands.add("pull", "wirewright flow pull Echo --langflow --out echo.json")(pull)
commands.add(
    "push",
    "wirewright flow push echo.json --langflow",
    'wirewright flow push echo.flow --folder "Starter Project" --dry-run',
)(push)
commands.add_typer(sessions, name="sessions")
commands.add_typer(schedules, name="schedule")
