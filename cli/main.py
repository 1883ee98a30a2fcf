"""The entry point of the `wirewright` command: assembles the commands and turns every outcome into an exit code."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # before anything imports pydantic: a third of start-up
os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")  # only `serve` sends traces
os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")  # the terminal belongs to the conversation

import typer

from cli import ask, models, runner, runs, serve, variables
from cli.access import users
from cli.access.token import token
from cli.access.usage import usage
from cli.chat import command as chat
from cli.components import app as components
from cli.doctor.command import doctor
from cli.documents.errors import Failed
from cli.errors import DONE, FAILED, INTERRUPTED, USAGE_ERROR, BadUsage, CommandError
from cli.eval import app as evaluate
from cli.files import app as files
from cli.flow import app as flow
from cli.help.group import CommandGroup
from cli.output.streams import (
    clear_progress,
    close_output,
    open_closed_streams,
    output_is_closed,
    print_json,
    print_message,
    print_result,
    start_in_utf8,
    use_utf8,
)
from cli.remote.login import login, logout
from cli.shell.completion import completion, prepare
from cli.shell.env_file import read_env_file
from cli.storage.backup import backup, restore
from cli.storage.migrate import migrate

EPILOG = """\
Exit codes: 0 done, 1 the work failed, 2 bad usage, 3 waiting for an approval.

Examples:
  wirewright ask "Build an echo flow and run it with hi" --out echo.json
  wirewright flow run echo.json --input hello
  wirewright components search "read a pdf"
"""

app = CommandGroup("Build, edit, explain and run Langflow flows from plain language.", name="wirewright", epilog=EPILOG)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - as the parser calls it
    if wanted:
        from runtime.install.release import release

        print_result(f"wirewright {release()}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Build, edit, explain and run Langflow flows from plain language."""


app.add("serve", "wirewright serve --port 7878")(serve.serve)
app.add(
    "ask",
    'wirewright ask "Build an echo flow and run it with hi" --out echo.json',
    'wirewright ask "What does this flow do?" --flow echo.json',
    'wirewright ask "Run it with hello" --flow echo.json',
)(ask.ask)
app.add("chat", "wirewright chat", "wirewright chat --flow echo.json --out echo.json", "wirewright chat --list")(
    chat.chat
)
app.add("completion", 'eval "$(wirewright completion bash)"')(completion)
app.add("token", "wirewright token", "wirewright token --link")(token)
app.add("login", "wirewright login --list")(login)
app.add("logout", "wirewright logout http://127.0.0.1:7878")(logout)
app.add("usage", "wirewright usage --by day,model", "wirewright usage --all --by user --from 2026-11-01")(usage)
app.add("doctor", "wirewright doctor", "wirewright doctor --bundle report.json")(doctor)
app.add("migrate", "wirewright migrate", "wirewright migrate --check")(migrate)
app.add("backup", "wirewright backup wirewright.zip")(backup)
app.add("restore", "wirewright restore wirewright.zip --overwrite")(restore)
app.add_typer(flow.commands, name="flow")
app.add_typer(components.commands, name="components")
app.add_typer(files.commands, name="files")
app.add_typer(models.commands, name="models")
app.add_typer(runner.commands, name="runner")
app.add_typer(runs.commands, name="runs")
app.add_typer(users.commands, name="users")
app.add_typer(variables.commands, name="variables")
app.add_typer(evaluate.commands, name="eval")


def main() -> None:
    """Run the command line and exit."""
    open_closed_streams()
    start_in_utf8()
    use_utf8()
    read_env_file(Path.cwd())
    prepare()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script may have started it with this one ignored
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED  # outside of a command
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Args:
        arguments: what follows the program's name.

    Returns:
        The exit code: 0 done, 1 the work failed, 2 bad usage, 3 waiting for an approval, 130 interrupted.
    """
    try:
        return _ended(arguments)
    except (BrokenPipeError, SystemExit):  # the parser exits by itself when a pipe is closed
        if not output_is_closed():
            raise
        close_output()  # whoever read it has read enough
        return DONE
    except OSError as failure:
        if failure.filename is not None or failure.errno not in _NO_ROOM:
            if sys.flags.dev_mode:
                raise
            return _report_failure(_internal_error(failure), arguments)
        close_output()
        print_message(
            "Error: Standard output cannot be written: no space is left.\nFree some space, or redirect the output."
        )
        return FAILED


@cache
def parser() -> Callable[..., object]:
    """What reads the arguments: making it from the signatures of all commands takes longer than most commands."""
    return typer.main.get_command(app)


def _ended(arguments: Sequence[str]) -> int:
    """Run one command, whose output can be written."""
    try:
        ended: object = parser()(args=list(arguments), prog_name="wirewright", standalone_mode=False)
    except CommandError as error:
        return _report_failure(error, arguments)
    except typer.TyperException as error:
        if error.format_message().startswith("Usage:"):
            print_message(error.format_message())
            return USAGE_ERROR
        return _report_failure(_usage_error(error), arguments)
    except OSError:
        raise
    except Exception as failure:
        if sys.flags.dev_mode:
            raise
        return _report_failure(_internal_error(failure), arguments)
    finally:
        clear_progress()
    return ended if isinstance(ended, int) else DONE


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _interrupt(*_: object) -> None:
    """Treat SIGTERM like an interrupt, so that everything is cleaned up."""
    signal.raise_signal(signal.SIGINT)


def _internal_error(failure: Exception) -> CommandError:
    """The error for an unexpected exception, without its message."""
    fix = "Please report it. PYTHONDEVMODE=1 shows the traceback."
    return CommandError("internal", f"Something went wrong inside wirewright ({type(failure).__name__}).", fix=fix)


def _usage_error(error: typer.TyperException) -> BadUsage:
    """The parser's error, with the command that it is about."""
    context: object = getattr(error, "ctx", None)
    command = getattr(context, "command_path", None) or "wirewright"
    if getattr(error, "option_name", None) == "--server":
        message = f"`{command}` works on this machine alone, not on a server."
        return BadUsage("not_remote", message, fix="Leave --server out.", where="--server")
    message = error.format_message().strip().replace(": Value error, ", ": ")  # as pydantic begins a reason
    return BadUsage("usage", message, fix=f"See: {command} --help", where=str(command))


def _report_failure(error: CommandError, arguments: Sequence[str]) -> int:
    if wants_json(arguments):
        print_json(Failed(error=error.to_json()))
    else:
        ended = error.message.endswith((".", "?", "!"))
        print_message(f"Error: {error.message}{'' if ended else '.'} {error.fix}".rstrip())
    return error.exit_code


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether `--json` is among the options."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


if __name__ == "__main__":
    main()
