"""`wirewright runs`: what ran in turns of the assistant, over HTTP and by `flow run`, listed, shown and erased."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.database import opened_database
from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from runtime.sessions.run_entry import RunEntry
    from runtime.sessions.runs import RunLog

T = TypeVar("T")

LISTED = 20
_LINE = 60
"""Characters of an output in a list."""

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="List, show and erase what ran.")

RunId = Annotated[str, typer.Argument(metavar="ID", help="The run, as `runs list` names it.")]


@commands.command("list", epilog="Example: wirewright runs list --limit 5")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=200, metavar="N", help="How many at most.")] = LISTED,
    *,
    as_json: Json = False,
) -> None:
    """List the last runs, latest first: those of the assistant, over HTTP, and of `flow run`."""
    from cli.documents.stored import RunList
    from runtime.files.folders import LOCAL_USER

    entries, total = _with_log(lambda runs: runs.entries(LOCAL_USER, limit))
    if as_json:
        print_json(RunList(runs=list(entries), total=total))
        return
    for entry in entries:
        print_result(_line(entry))
    if not entries:
        print_message("Nothing ran yet.")


@commands.command("show", epilog="Example: wirewright runs show 4f1c")
def show(run: RunId, *, as_json: Json = False) -> None:
    """Print what a run was given, what it gave, and what it took."""
    from runtime.files.folders import LOCAL_USER

    entry = _with_log(lambda runs: runs.get(LOCAL_USER, run))
    if entry is None:
        raise _no_run(run)
    if as_json:
        print_json(entry)
        return
    tokens = f"{entry.input_tokens} tokens read, {entry.output_tokens} written"
    print_result(f"{entry.name} ({entry.flow})\n{entry.at}, by {entry.source}, {entry.seconds:.1f} s, {tokens}")
    print_result(f"Input: {'(as configured)' if entry.input is None else entry.input}")
    print_result(f"Output: {'(none)' if entry.output is None else entry.output}")
    if entry.error is not None:
        print_result(f"Error: {entry.error}")


@commands.command("remove", epilog="Example: wirewright runs remove --all")
def remove(
    run: Annotated[str | None, typer.Argument(metavar="[ID]", help="The run to erase.", show_default=False)] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Erase every run.")] = False,
    as_json: Json = False,
) -> None:
    """Erase one run, or all."""
    from cli.documents.flows import Removed
    from runtime.files.folders import LOCAL_USER

    if (run is None) is not all_:
        raise BadUsage("usage", "Name one run, or write --all.", fix="wirewright runs list shows them.", where="ID")
    count = _with_log(lambda runs: runs.remove(LOCAL_USER, run))
    if run is not None and not count:
        raise _no_run(run)
    if as_json:
        print_json(Removed(removed=count))
        return
    print_message(f"Erased: {count} {'run' if count == 1 else 'runs'}.")


def _line(entry: "RunEntry") -> str:
    outcome = entry.error if entry.error is not None else entry.output or ""
    first = " ".join(outcome.split())
    shown = first if len(first) <= _LINE else f"{first[:_LINE]}…"
    return f"{entry.id}  {entry.at[:19]}  {'failed' if entry.error else 'ok'}  {entry.name}  {shown}".rstrip()


@asynccontextmanager
async def run_log() -> "AsyncGenerator[RunLog]":
    """The log of runs, as the settings say where.

    Raises:
        CommandError: the database cannot be used.
    """
    from runtime.sessions.runs import RunLog

    async with opened_database() as database:
        yield RunLog(database)


def _with_log(work: "Callable[[RunLog], Awaitable[T]]") -> T:
    async def working() -> T:
        async with run_log() as runs:
            return await work(runs)

    return asyncio.run(working())


def _no_run(run: str) -> CommandError:
    return CommandError("run_not_found", f"There is no run {run[:80]!r}.", fix="wirewright runs list shows them.")
