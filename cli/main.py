"""The entry point of the `wirewright` command: assembles the commands and turns every outcome into an exit code."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, cast

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # before anything imports pydantic: a third of start-up
os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")  # only `serve` sends traces
os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")  # the terminal belongs to the conversation

import typer

from cli.documents.errors import Failed
from cli.errors import DONE, FAILED, INTERRUPTED, USAGE_ERROR, BadUsage, CommandError
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
from cli.shell.completion import prepare
from cli.shell.env_file import read_env_file

EPILOG = """\
Exit codes: 0 done, 1 the work failed, 2 bad usage, 3 waiting for an approval.

Examples:
  wirewright ask "Build an echo flow and run it with hi" --out echo.json
  wirewright flow run echo.json --input hello
  wirewright components search "read a pdf"
"""


@dataclass(frozen=True)
class _Entry:
    """A command, with examples of it, or a group of commands."""

    module: str
    name: str
    examples: tuple[str, ...] = ()


_ENTRIES = {
    "serve": _Entry("serve", "serve", ("wirewright serve --port 7878",)),
    "worker": _Entry("jobs.worker", "worker", ("wirewright worker --queues runs --places 8",)),
    "ask": _Entry(
        "ask",
        "ask",
        (
            'wirewright ask "Build an echo flow and run it with hi" --out echo.json',
            'wirewright ask "What does this flow do?" --flow echo.json',
            'wirewright ask "Run it with hello" --flow echo.json',
        ),
    ),
    "chat": _Entry(
        "chat.command",
        "chat",
        ("wirewright chat", "wirewright chat --flow echo.json --out echo.json", "wirewright chat --list"),
    ),
    "mcp": _Entry(
        "mcp.command", "mcp", ("wirewright mcp", "wirewright mcp --server https://flows.example.org --allow edit")
    ),
    "completion": _Entry("shell.completion", "completion", ('eval "$(wirewright completion bash)"',)),
    "token": _Entry("access.token", "token", ("wirewright token", "wirewright token --link")),
    "login": _Entry("remote.login", "login", ("wirewright login --list",)),
    "logout": _Entry("remote.login", "logout", ("wirewright logout http://127.0.0.1:7878",)),
    "usage": _Entry(
        "access.usage",
        "usage",
        ("wirewright usage --by day,model", "wirewright usage --all --by user --from 2026-11-01"),
    ),
    "doctor": _Entry("doctor.command", "doctor", ("wirewright doctor", "wirewright doctor --bundle report.json")),
    "migrate": _Entry("storage.migrate", "migrate", ("wirewright migrate", "wirewright migrate --check")),
    "backup": _Entry("storage.backup", "backup", ("wirewright backup wirewright.zip",)),
    "restore": _Entry("storage.backup", "restore", ("wirewright restore wirewright.zip --overwrite",)),
    "flow": _Entry("flow.app", "commands"),
    "langflow": _Entry("langflow.app", "commands"),
    "components": _Entry("components.app", "commands"),
    "files": _Entry("files.app", "commands"),
    "models": _Entry("models", "commands"),
    "bundles": _Entry("bundles.app", "commands"),
    "conversations": _Entry("conversations.app", "commands"),
    "approvals": _Entry("conversations.approvals", "commands"),
    "runner": _Entry("runner", "commands"),
    "runs": _Entry("runs", "commands"),
    "jobs": _Entry("jobs.app", "commands"),
    "users": _Entry("access.users", "commands"),
    "variables": _Entry("variables", "commands"),
    "eval": _Entry("eval.app", "commands"),
}
"""The commands in the order of the help. Only those that a command line needs are imported."""


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - as the parser calls it
    if wanted:
        from runtime.install.release import release

        print_result(f"wirewright {release()}")
        raise typer.Exit


def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Build, edit, explain and run Langflow flows from plain language."""


def command_line(*names: str) -> CommandGroup:
    """The command line with some of its commands, or with all of them."""
    text = "Build, edit, explain and run Langflow flows from plain language."
    group = CommandGroup(text, name="wirewright", epilog=EPILOG)
    group.callback()(_options)
    for name in names or _ENTRIES:
        entry = _ENTRIES[name]
        found: object = getattr(import_module(f".{entry.module}", __package__), entry.name)
        if isinstance(found, CommandGroup):
            group.add_typer(found, name=name)
        else:
            group.add(name, *entry.examples)(cast("Callable[..., object]", found))
    return group


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
def parser(*names: str) -> Callable[..., object]:
    """What reads the arguments, for some commands or for all: to make that takes longer than most commands."""
    return typer.main.get_command(command_line(*names))


def _ended(arguments: Sequence[str]) -> int:
    """Run one command, whose output can be written."""
    try:
        read = parser(*(name for name in arguments[:1] if name in _ENTRIES))
        ended: object = read(args=list(arguments), prog_name="wirewright", standalone_mode=False)
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
