"""`wirewright runs`: what ran in turns of the assistant, over HTTP and by `flow run`, listed, shown and erased."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.database import opened_database
from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import output_width, print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, needed_server, server_at

if TYPE_CHECKING:
    from cli.remote.stores.runs import RemoteRuns
    from runtime.sessions.run_entry import RunEntry
    from runtime.sessions.runs import RunLog

T = TypeVar("T")

LISTED = 20
LAST = "last"
"""What names the latest run."""
_SHOWN = 300
"""Characters of an output in a list."""
_ID = 12
"""Characters of an id in a list on a narrow terminal; `runs show` takes the beginning of one."""
_WIDE = 120
"""Columns from which an id is shown whole."""

commands = CommandGroup("List, show and erase what ran.")

RunId = Annotated[
    str, typer.Argument(metavar="ID", help="The run, as `runs list` names it, the beginning of its id, or last.")
]


@commands.add("list", "wirewright runs list --limit 5")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=200, metavar="N", help="How many at most.")] = LISTED,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List the last runs, latest first: those of the assistant, over HTTP, and of `flow run`."""
    from cli.documents.stored import RunList
    from runtime.files.folders import LOCAL_USER

    entries, total = _with_log(server, lambda runs: runs.entries(LOCAL_USER, limit))
    if as_json:
        print_json(RunList(runs=list(entries), total=total))
        return
    print_rows(map(_row, entries))
    if not entries:
        print_message("Nothing ran yet.")


@commands.add("show", "wirewright runs show last")
def show(run: RunId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print what a run was given, what it gave, and what it took."""

    entry = _with_log(server, lambda runs: _found(runs, run))
    if as_json:
        print_json(entry)
        return
    tokens = f"{entry.input_tokens} tokens read, {entry.output_tokens} written"
    print_result(f"{entry.name} ({entry.flow})\n{entry.at}, by {entry.source}, {entry.seconds:.1f} s, {tokens}")
    print_result(f"Input: {'(as configured)' if entry.input is None else entry.input}")
    print_result(f"Output: {'(none)' if entry.output is None else entry.output}")
    if entry.error is not None:
        print_result(f"Error: {entry.error}")


@commands.add("remove", "wirewright runs remove last", "wirewright runs remove --all")
def remove(
    run: Annotated[
        str | None, typer.Argument(metavar="ID", help="The run to erase, named as for `runs show`.", show_default=False)
    ] = None,
    server: ServerAddress = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Erase every run.")] = False,
    as_json: Json = False,
) -> None:
    """Erase one run, or all."""
    from cli.documents.flows import Removed

    if (run is None) is not all_:
        raise BadUsage("usage", "Name one run, or write --all.", fix="wirewright runs list shows them.", where="ID")
    count = _with_log(server, lambda runs: _removed(runs, run))
    if as_json:
        print_json(Removed(removed=count))
        return
    print_message(f"Erased: {count} {'run' if count == 1 else 'runs'}.")


@commands.add("cancel", "wirewright runs cancel last --server https://flows.example.org")
def cancel(run: RunId, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """End a run that goes on at a server; one of this machine ends with its command."""
    from cli.remote.stores.runs import RemoteRuns

    runs = RemoteRuns(needed_server(server, "A run of this machine ends with its command; others go on at a server"))
    ended = runs.cancel(asyncio.run(_found(runs, run)).id)
    if as_json:
        print_json(ended)
        return
    print_message(f"The run has ended: {ended.state}.")


def _row(entry: "RunEntry") -> tuple[str, ...]:
    """A run as a row; of a long output only the beginning, which `runs show` prints whole."""
    outcome = " ".join((entry.error if entry.error is not None else entry.output or "").split())
    shown = outcome if len(outcome) <= _SHOWN else f"{outcome[:_SHOWN].rstrip()}…"
    said = f"{entry.name}: {shown}" if shown else entry.name
    width = output_width()
    name = entry.id if width is None or width >= _WIDE else entry.id[:_ID]
    return (name, entry.at[:19], "ok" if entry.state == "succeeded" else entry.state, said)


@asynccontextmanager
async def run_log() -> "AsyncGenerator[RunLog]":
    """The log of runs, as the settings say where.

    Raises:
        CommandError: the database cannot be used.
    """
    from runtime.sessions.runs import RunLog

    async with opened_database() as database:
        runs = RunLog(database)
        try:
            yield runs
        finally:
            await runs.aclose()


def _with_log(server: str | None, work: "Callable[[RunLog | RemoteRuns], Awaitable[T]]") -> T:
    """Work on the log of runs of the server that is named, or else of this machine."""
    found = server_at(server)

    async def working() -> T:
        if found is not None:
            from cli.remote.stores.runs import RemoteRuns

            return await work(RemoteRuns(found))
        async with run_log() as runs:
            return await work(runs)

    return asyncio.run(working())


async def _found(runs: "RunLog | RemoteRuns", name: str) -> "RunEntry":
    """The run with an id, or whose id alone begins so, or the last one.

    Raises:
        CommandError: there is none, or there are several.
    """
    from runtime.files.folders import LOCAL_USER
    from runtime.sessions.runs import KEPT

    entries, _ = await runs.entries(LOCAL_USER, 1 if name == LAST else KEPT)
    found = [one for one in entries if name == LAST or one.id.startswith(name)]
    exact = [one for one in found if one.id == name]
    if not found or not name:
        raise _no_run(name)
    if len(found) > 1 and not exact:
        message = f"{len(found)} runs begin with {name!r}."
        raise CommandError("run_ambiguous", message, fix=f"Write more of its id, such as {found[0].id}.")
    return (exact or found)[0]


async def _removed(runs: "RunLog | RemoteRuns", name: str | None) -> int:
    """Erase a run, or all; returns how many."""
    from runtime.files.folders import LOCAL_USER

    return await runs.remove(LOCAL_USER, None if name is None else (await _found(runs, name)).id)


def _no_run(run: str) -> CommandError:
    return CommandError("run_not_found", f"There is no run {run[:80]!r}.", fix="wirewright runs list shows them.")
