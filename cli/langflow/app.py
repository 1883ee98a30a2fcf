"""`wirewright langflow`: connect a running Langflow, and list what it has."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.langflow.servers import ConnectionName, asked, connection_named, connections, langflow_errors
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message

if TYPE_CHECKING:
    from runtime.langflow.documents import Project

commands = CommandGroup("Connect a running Langflow, and list its flows and projects.")

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow that the key is sent without TLS beyond this machine.")
]


@commands.add("connect", "wirewright langflow connect http://127.0.0.1:7860 < key.txt")
def connect(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where Langflow runs, such as http://127.0.0.1:7860.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What it is called here; from its host if not given.")
    ] = None,
    *,
    insecure: Insecure = False,
    as_json: Json = False,
) -> None:
    """Keep the address of a running Langflow and a key for it.

    The API key (Langflow: Settings, Langflow API Keys) is read from standard
    input, or typed unseen at a terminal. It is tried first, kept encrypted
    among your variables together with the address, and sent to this address
    alone: another address asks for a key again.
    """
    from cli.documents.langflow import Connected
    from cli.input.texts import STANDARD_INPUT, read
    from runtime.langflow.addresses import is_protected, read_url
    from runtime.langflow.connections import connection_of, suggested_name

    with langflow_errors("URL"):
        address = read_url(url)
        called = name or suggested_name(address)
        connection_of(called, address, "to-be-read", insecure=insecure)
    if sys.stdin.isatty():
        typed = typer.prompt(f"API key for {address}", hide_input=True, default="", show_default=False, err=True)
    else:
        typed = read(STANDARD_INPUT, limit=4_096).text
    with langflow_errors("standard input"):
        made = connection_of(called, address, typed, insecure=insecure)
    version = asked(made, lambda server: server.version())
    asked(made, lambda server: server.check_key())
    with langflow_errors():
        kept = connections().keep(made.name, made.url, made.key, insecure=insecure and not is_protected(made.url))
        asyncio.run(kept)
    if as_json:
        print_json(Connected(name=made.name, url=made.url, version=version))
    else:
        print_message(f"Langflow {version} at {made.url} is connected as {made.name}.")


@commands.add("list", "wirewright langflow list", "wirewright langflow list --check")
def list_connections(
    *,
    check: Annotated[bool, typer.Option("--check", help="Ask each whether it answers and takes its key.")] = False,
    as_json: Json = False,
) -> None:
    """List the Langflow servers that are connected; keys are never shown."""
    from cli.documents.langflow import ConnectionList, ConnectionObject

    with langflow_errors():
        known = asyncio.run(connections().all())
    listed: list[ConnectionObject] = []
    for one in known:
        entry = ConnectionObject(name=one.name, url=one.url, version=None, error=None)
        if check:
            try:
                entry["version"] = asked(one, lambda server: server.version())
                asked(one, lambda server: server.check_key())
            except CommandError as error:
                entry["error"] = error.to_json()
        listed.append(entry)
    if as_json:
        print_json(ConnectionList(connections=listed))
    else:
        print_rows(
            (one["name"], one["url"], one["version"] or "", "" if one["error"] is None else one["error"]["message"])
            for one in listed
        )
        if not listed:
            print_message("No Langflow server is connected.")
    if any(one["error"] is not None for one in listed):
        raise typer.Exit(1)


@commands.add("disconnect", "wirewright langflow disconnect local")
def disconnect(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the connection is called here.")],
    *,
    as_json: Json = False,
) -> None:
    """Forget a Langflow server and its key; nothing changes there."""
    from cli.documents.langflow import Disconnected

    with langflow_errors():
        removed = asyncio.run(connections().forget(name))
    if not removed:
        fix = "wirewright langflow list shows them."
        raise CommandError("not_connected", f"No Langflow server is called {name[:40]!r}.", fix=fix, where="NAME")
    if as_json:
        print_json(Disconnected(removed=name))
    else:
        print_message(f"{name} is disconnected, and its key is forgotten.")


@commands.add("flows", "wirewright langflow flows", 'wirewright langflow flows --folder "Starter Project"')
def list_flows(
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="NAME", help="Only those of this project, by name or id.")
    ] = None,
    connection: ConnectionName = None,
    *,
    as_json: Json = False,
) -> None:
    """List the flows of a Langflow server, last changed first."""
    from cli.documents.langflow import FlowList, FlowObject
    from runtime.langflow.client import LangflowServer
    from runtime.langflow.documents import FlowHead

    there = connection_named(connection)

    async def both(server: LangflowServer) -> "tuple[list[FlowHead], list[Project]]":
        heads, projects = await asyncio.gather(server.flows(), server.projects())
        return heads, projects

    heads, projects = asked(there, both)
    names = {one.id: one.name for one in projects}
    if folder is not None:
        wanted = project_of(projects, folder).id
        heads = [one for one in heads if one.folder_id == wanted]
    heads = sorted(heads, key=lambda one: one.updated_at or "", reverse=True)
    flows = [
        FlowObject(
            id=one.id,
            name=one.name,
            folder=names.get(one.folder_id or ""),
            updated_at=one.updated_at,
        )
        for one in heads
    ]
    if as_json:
        print_json(FlowList(flows=flows))
        return
    print_rows((one["id"], (one["updated_at"] or "")[:19], one["folder"] or "", one["name"]) for one in flows)
    if not flows:
        print_message("There are no flows." if folder is None else f"There are no flows in {folder!r}.")


@commands.add("folders", "wirewright langflow folders")
def list_folders(connection: ConnectionName = None, *, as_json: Json = False) -> None:
    """List the projects of a Langflow server, which earlier versions call folders."""
    from cli.documents.langflow import FolderList, FolderObject

    projects = asked(connection_named(connection), lambda server: server.projects())
    if as_json:
        print_json(FolderList(folders=[FolderObject(id=one.id, name=one.name) for one in projects]))
    else:
        print_rows((one.id, one.name) for one in projects)


def project_of(projects: "list[Project]", name: str) -> "Project":
    """The project with an id or a name.

    Raises:
        BadUsage: there is none, or there are several.
    """
    found = [one for one in projects if one.id == name] or [one for one in projects if one.name == name]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.name for one in projects[:5])
    reason = f"There is no project {name[:80]!r} there." if not found else f"{len(found)} projects are called so."
    fix = f"Name one of: {known}." if not found else f"Name one by its id: {', '.join(one.id for one in found)}."
    raise BadUsage("no_folder", reason, fix=fix, where="--folder")
