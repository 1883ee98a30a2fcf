"""`wirewright doctor`: examines this installation, and writes a report of it for a bug."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.errors import FAILED, BadUsage, CommandError
from cli.options import Json
from cli.output.columns import print_lines, print_rows
from cli.output.streams import print_json, print_message
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.remote.connection import Server

T = TypeVar("T")

_MARKS = {"works": "ok", "missing": "NO", "optional": "--"}


def doctor(
    server: ServerAddress = None,
    *,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Also write a report for a bug: no keys, paths or flows."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what works here, what is missing and how to get it; exit 1 when something needed is missing.

    With --server: its state and release, who you are there, and its model.
    """
    from cli.doctor import report

    here_alone(server, bundle=bundle)
    if (remote := server_at(server)) is not None:
        _examine(remote, as_json=as_json)
        return
    found = report.examine()
    if bundle is not None:
        _write(bundle, report.bundle().model_dump_json(indent=2) + "\n")
    if as_json:
        print_json(found)
    else:
        active = [check for check in found.checks if check.name.startswith("Protection:") and check.status == "works"]
        for check in found.checks:
            if check in active[1:]:
                continue
            if check in active[:1]:
                print_rows([("ok", f"Protections of a run: {len(active)} active; wirewright runner status lists them")])
                continue
            print_rows([(_MARKS[check.status], f"{check.name}: {check.detail}")])
            if check.fix:
                print_lines(f"    -> {check.fix}", hanging=" " * 7)
    if not found.ok:
        raise typer.Exit(FAILED)


def _examine(server: "Server", *, as_json: bool) -> None:
    """Show how a server is; exit 1 when something does not work, or its release is another one."""
    from cli.documents.servers import ServerReport
    from cli.remote.stores.installation import liveness, readiness
    from cli.remote.stores.models import RemoteModels
    from cli.remote.stores.users import RemoteUsers
    from runtime.install.release import release

    theirs, state = liveness(server).release, readiness(server)
    user = _if_known(lambda: RemoteUsers(server).me().user)
    models = _if_known(RemoteModels(server).overview)
    same = theirs == release()
    ok = state.ready and same and (state.workers is None or any(state.workers.values()))
    if as_json:
        print_json(
            ServerReport(
                ok=ok,
                server=server.origin,
                release=theirs,
                own_release=release(),
                readiness=state,
                user=user,
                models=models,
            )
        )
    else:
        version = theirs if same else f"{theirs}, and here {release()}"
        print_rows([(_MARKS["works" if same else "missing"], f"Release: {version}")])
        print_rows([(_MARKS["works" if state.runner == "ready" else "missing"], f"Flow engine: {state.runner}")])
        print_rows([(_MARKS["works" if state.database == "ready" else "missing"], f"Database: {state.database}")])
        if state.workers is not None:
            there = any(state.workers.values())
            counts = ", ".join(f"{count} for {queue}" for queue, count in state.workers.items())
            print_rows([(_MARKS["works" if there else "missing"], f"Workers: {counts}")])
            if not there:
                print_lines(
                    "    -> No worker is there, so that what is asked for waits: wirewright worker", hanging=" " * 7
                )
        if user is not None:
            until = "" if user.expires_at is None else f"; the token ends {user.expires_at[:16].replace('T', ' ')} UTC"
            print_rows([(_MARKS["works"], f"You: {user.name} ({', '.join(user.scopes)}){until}")])
        if models is not None:
            named = models.default or "none" if models.error is None else f"none. {models.error.message}"
            print_rows([(_MARKS["optional" if models.default in (None, "demo") else "works"], f"Model: {named}")])
        if not state.ready:
            told = f"{state.message.rstrip('.')}. {state.fix or ''}".rstrip()
            print_lines(f"    -> {told}", hanging=" " * 7)
    if not ok:
        raise typer.Exit(FAILED)


def _if_known(read: "Callable[[], T]") -> "T | None":
    """What a server says; None when it is of a version that does not say so."""
    try:
        return read()
    except CommandError as error:
        if error.code != "unreadable_answer":
            raise
        return None


def _write(path: Path, text: str) -> None:
    from runtime.files.texts import write_file

    try:
        write_file(path, text.encode(), replace=False)
    except FileExistsError:
        fix = "Name a file that does not exist yet."
        raise BadUsage("file_exists", f"{path} exists already.", fix=fix, where="--bundle") from None
    except OSError:
        fix = "Name a file in a folder that can be written."
        raise BadUsage("not_written", f"{path} cannot be written.", fix=fix, where="--bundle") from None
    print_message(f"Wrote {path}. Read it before you send it.")
