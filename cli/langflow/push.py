"""`wirewright flow push`: a flow sent to a Langflow server, as one update."""

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import WAITING, BadUsage, CommandError
from cli.langflow.servers import ConnectionName, OnLangflow, asked, connection_named, langflow_errors
from cli.options import Json
from cli.output.streams import print_json, print_message, print_prose

if TYPE_CHECKING:
    from cli.documents.langflow import Pushed
    from flows.document import Flow
    from runtime.langflow.changes import Update
    from runtime.langflow.connections import Connection
    from runtime.langflow.documents import RemoteFlow


def push(
    f: Annotated[str, typer.Argument(metavar="F", help="Langflow JSON or spec text: a file, or - to read it.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="FLOW", help="The flow there that it becomes, by id or name.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What the flow is called.")] = None,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="NAME", help="The project of a new flow, by name or id.")
    ] = None,
    send_variable: Annotated[
        list[str] | None,
        typer.Option("--send-variable", metavar="NAME", help="Keep your variable there, too. May be repeated."),
    ] = None,
    connection: ConnectionName = None,
    *,
    langflow: OnLangflow = True,  # noqa: ARG001 - it says where, and nowhere else is possible yet
    new: Annotated[bool, typer.Option("--new", help="Add it as a new flow, wherever it was pulled from.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what was changed there since it was pulled.")
    ] = False,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Send the secrets that were typed into its fields.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Send it although something that it names is missing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send a flow to a running Langflow, as one update.

    A pulled flow updates the one it is from; another one becomes a new flow.
    What was changed there since is kept: changes of different places are
    merged, and where both changed the same nothing is sent. What the flow
    names and is not there is listed, and waits for --yes (exit code 3).
    """
    from cli.flow.source import load_flow
    from cli.langflow.sending import Sending, prepared, sent
    from cli.output.faults import note_faults
    from flows.document import Flow

    if to is not None and new:
        raise BadUsage("usage", "--to and --new exclude each other.", fix="Leave one of them out.", where="--to")
    loaded, _ = load_flow(f)
    if loaded.flow is None:
        note_faults(loaded.faults)
        first = next(fault for fault in loaded.faults if fault.is_error)
        raise CommandError("invalid_flow", f"{f} does not build: {first.message}", fix=first.fix, where=f)
    flow = loaded.flow if name is None else Flow({**loaded.flow.raw, "name": name})
    there = connection_named(connection)
    sending = Sending(
        to=to,
        new=new,
        folder=folder,
        with_secrets=with_secrets,
        overwrite=overwrite,
        variables=_variables(send_variable or []),
    )
    update = asked(there, lambda server: prepared(server, flow, sending))
    from runtime.langflow.exchange import sendable

    missing = [fault for fault in update.faults if not fault.is_error]
    if not as_json:
        show_update(update)
    with langflow_errors(f):
        sendable(update, there)
    waits = bool(missing) and not yes
    if dry_run or waits:
        if as_json:
            print_json(pushed(update, there, None, ok=not waits))
        elif waits:
            print_prose(f"Nothing was sent. To send it all the same: {_again(f, there)} --yes")
        else:
            print_message("Nothing was sent.")
        if waits:
            raise typer.Exit(WAITING)
        return
    remote = asked(there, lambda server: sent(server, update, sending))
    if update.body or update.moved != "no":
        _keep(f, there, remote, from_spec=loaded.from_spec, with_secrets=with_secrets, quiet=as_json)
    if as_json:
        print_json(pushed(update, there, remote, ok=True))
    else:
        print_message(sent_words(update, there, remote))


def show_update(update: "Update") -> None:
    """Say what would be sent, and what is missing there, before anything is."""
    from cli.output.faults import note_faults

    if update.moved != "no":
        how = "moved things in it" if update.moved == "layout" else "changed it"
        print_prose(f"Others {how} there since it was pulled.")
    for line in (*update.changes, *update.named):
        print_prose(f"  {line}.")
    note_faults(update.faults)


def pushed(update: "Update", there: "Connection", remote: "RemoteFlow | None", *, ok: bool) -> "Pushed":
    """What was sent, as a document."""
    from cli.documents.langflow import Pushed

    seen = remote or update.seen
    return Pushed(
        ok=ok,
        sent=remote is not None and bool(update.body),
        id=None if seen is None else seen.id,
        name=update.flow.name if remote is None else remote.name,
        url=there.url,
        moved=update.moved,
        changes=list(update.changes),
        named=list(update.named),
        missing=list(update.faults),
    )


def sent_words(update: "Update", there: "Connection", remote: "RemoteFlow") -> str:
    """Where the flow is now, in words."""
    if update.seen is None:
        return f"{remote.name} was added at {there.url}."
    if not update.body:
        return f"{remote.name} is the same at {there.url}; nothing was sent."
    return f"{remote.name} was updated at {there.url}."


def _keep(
    f: str, there: "Connection", remote: "RemoteFlow", *, from_spec: bool, with_secrets: bool, quiet: bool
) -> None:
    """Write the flow as it is there now to the file that it is from, so that the next change begins with that."""
    from cli.output.files import write_flow
    from runtime.langflow.exchange import pulled

    if f == "-" or from_spec:
        return
    with langflow_errors():
        flow: Flow = pulled(there, remote, with_secrets=with_secrets)
    write_flow(Path(f), flow)
    if not quiet:
        print_message(f"{f} holds it as it is there now.")


def _variables(names: list[str]) -> list[tuple[str, str]]:
    """Variables that are to be sent, with their values.

    Raises:
        CommandError: one is not kept here.
    """
    from cli.files.local import LocalVariables

    if not names:
        return []
    with langflow_errors():
        kept = asyncio.run(LocalVariables().values())
    for name in names:
        if name not in kept:
            fix = "wirewright variables list shows them."
            raise CommandError("variable_not_found", f"There is no variable {name[:80]!r}.", fix=fix)
    return [(name, kept[name]) for name in names]


def _again(f: str, there: "Connection") -> str:
    return shlex.join(["wirewright", "flow", "push", f, "--connection", there.name])
