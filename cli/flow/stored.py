"""`wirewright flow list|show|export|import|…`: the flows that a server stores."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, needed_server

if TYPE_CHECKING:
    from cli.remote.stores.flows import RemoteFlows
    from server.store.flows import FlowEntry

LISTED = 50
StoredName = Annotated[
    str, typer.Argument(metavar="FLOW", help="The stored flow: its id, the beginning of one, or its name.")
]


def list_flows(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Only flows whose names contain it.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many at most.")] = LISTED,
    server: ServerAddress = None,
    *,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only flows with components of an earlier engine, and which these are.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the flows that a server stores, last changed first."""
    from cli.documents.servers import StoredFlows

    if stale:
        _list_stale(_flows(server), text, limit, as_json=as_json)
        return
    entries, total = _flows(server).entries(text, limit)
    if as_json:
        print_json(StoredFlows(flows=entries, total=total))
        return
    print_rows((one.id, one.updated_at[:19], f"version {one.version}", one.name) for one in entries)
    if not entries:
        print_message("No flows are stored there." if not text else f"No flow's name contains {text!r}.")


def _list_stale(flows: "RemoteFlows", text: str, limit: int, *, as_json: bool) -> None:
    from cli.documents.servers import StaleFlows

    entries, total = flows.stale(text, limit)
    if as_json:
        print_json(StaleFlows(flows=entries, total=total))
        return
    print_rows((one.id, f"version {one.version}", one.name, ", ".join(one.stale)) for one in entries)
    if entries:
        print_message("To update one: wirewright flow update-components FLOW")
    else:
        print_message("No flow that is stored there has components of an earlier engine.")


def show(f: StoredName, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print what a stored flow is made of; with --json, the flow itself as well."""
    from flows.document import Flow

    flows = _flows(server)
    whole = flows.get(flows.find(f).id)
    if as_json:
        print_json(whole)
        return
    print_result(f"{whole.name} ({whole.id})\nversion {whole.version}, {whole.updated_at[:19]}")
    nodes = [node for node in Flow.from_json(whole.flow).nodes if not node.is_note]
    print_rows(((node.id, node.display_name or node.type) for node in nodes), indent="  ")


def export(
    f: StoredName,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it there; without it, standard output gets the flow.")
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Get a stored flow as Langflow JSON, which Langflow imports."""
    from cli.documents.servers import FlowWritten
    from cli.output.files import writable, write_bytes

    target = writable(out)
    flows = _flows(server)
    entry = flows.find(f)
    content = flows.export(entry.id)
    if target is None:
        print_json(json.loads(content)) if as_json else print_result(content.decode())
        return
    write_bytes(target, content)
    if as_json:
        print_json(FlowWritten(id=entry.id, version=entry.version, out=str(target)))
    else:
        print_message(f"{entry.name} is in {target}.")


def import_flows(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A Langflow export, several in a list, or a project's zip archive; - reads it."
        ),
    ],
    replace: Annotated[
        str | None, typer.Option(metavar="FLOW", help="Store it as the next version of this flow, not as a new one.")
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            "--based-on",
            min=1,
            metavar="N",
            help="With --replace: the version that it is based on; the newest if not given.",
        ),
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Store flows on a server: all of a JSON file or none; of an archive what is a flow, and the rest is named."""
    from cli.documents.servers import ImportedFlows
    from cli.errors import BadUsage
    from cli.flow.source import flow_of
    from cli.input.texts import read
    from cli.remote.stores.flows import import_content

    if version is not None and replace is None:
        raise BadUsage("usage", "--based-on needs --replace.", fix="Name the flow as well.", where="--based-on")
    if replace is None:
        content = import_content(file)
        done = _flows(server).import_content(content)
        stored, skipped = done.flows, done.skipped
    else:
        flow = flow_of(read(file))
        flows = _flows(server)
        stored, skipped = [flows.replace(flows.find(replace), flow, version)], []
    if as_json:
        print_json(ImportedFlows(flows=stored, total=len(stored), skipped=skipped))
    else:
        for entry in stored:
            print_message(_stored(entry))
        for one in skipped:
            print_message(f"{one.where} is left out: {one.message} {one.fix}")
    if skipped:
        raise typer.Exit(FAILED)


def remove(
    names: Annotated[list[str], typer.Argument(metavar="FLOW", help="Stored flows: ids, or names.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Remove stored flows, with their versions and sessions."""
    from cli.documents.flows import Removed

    flows = _flows(server)
    found = [flows.find(name) for name in names]
    for entry in found:
        flows.remove(entry.id)
        if not as_json:
            print_message(f"{entry.name} ({entry.id}) is removed.")
    if as_json:
        print_json(Removed(removed=len(found)))


def revisions(f: StoredName, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the versions of a stored flow that are kept, latest first."""
    from cli.documents.servers import Revisions

    flows = _flows(server)
    found = flows.revisions(flows.find(f).id)
    if as_json:
        print_json(Revisions(revisions=found))
        return
    print_rows((str(one.version), one.at[:19], one.author, f"{one.node_count} nodes", one.name) for one in found)


def restore(
    f: StoredName,
    version: Annotated[
        int, typer.Argument(metavar="VERSION", min=1, help="The version, as `flow revisions` lists it.")
    ],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Store an earlier version of a flow again, as its newest."""
    flows = _flows(server)
    entry = flows.restore(flows.find(f), version)
    print_json(entry) if as_json else print_message(_stored(entry))


def duplicate(f: StoredName, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Store a copy of a flow as a new one."""
    flows = _flows(server)
    entry = flows.duplicate(flows.find(f).id)
    print_json(entry) if as_json else print_message(f"{entry.name} ({entry.id}) is stored.")


def start(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The starter flow, as `flow templates` lists it.")],
    called: Annotated[
        str | None,
        typer.Argument(metavar="TITLE", help="What it is called; the template's title if not given."),
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Store a new flow on a server that begins as a starter flow."""
    entry = _flows(server).start(name, called)
    print_json(entry) if as_json else print_message(f"{entry.name} ({entry.id}) is stored.")


def update_components(
    f: StoredName,
    server: ServerAddress = None,
    *,
    preview: Annotated[bool, typer.Option("--preview", help="Say only what would change.")] = False,
    as_json: Json = False,
) -> None:
    """Update the components of a stored flow that are of an earlier engine, as its next version."""
    flows = _flows(server)
    entry = flows.find(f)
    made = flows.update_components(entry, preview=preview)
    if as_json:
        print_json(made)
        return
    for line in made.changes:
        print_result(line)
    for line in made.lost:
        print_message(f"Lost: {line}")
    if not made.components:
        print_message(f"Every component of {made.name} is of the server's engine.")
    elif not preview:
        print_message(f"{made.name} is stored as version {made.version}.")


def _flows(server: str | None) -> "RemoteFlows":
    found = needed_server(server)
    from cli.remote.stores.flows import RemoteFlows

    return RemoteFlows(found)


def _stored(entry: "FlowEntry") -> str:
    return f"{entry.name} ({entry.id}) is stored as version {entry.version}."


def add_to(commands: CommandGroup) -> None:
    """Add these commands to a group.

    Args:
        commands: the group.
    """
    on = "--server https://flows.example.org"
    commands.add("list", f"wirewright flow list {on}")(list_flows)
    commands.add("show", f"wirewright flow show Echo {on}")(show)
    commands.add("export", f"wirewright flow export Echo {on} --out echo.json")(export)
    commands.add("import", f"wirewright flow import echo.json {on}", "wirewright flow import echo.json --replace Echo")(
        import_flows
    )
    commands.add("remove", f"wirewright flow remove Echo {on}")(remove)
    commands.add("revisions", f"wirewright flow revisions Echo {on}")(revisions)
    commands.add("restore", f"wirewright flow restore Echo 1 {on}")(restore)
    commands.add("start", f"wirewright flow start router Helpdesk {on}")(start)
    commands.add("duplicate", f"wirewright flow duplicate Echo {on}")(duplicate)
    commands.add("update-components", f"wirewright flow update-components Echo {on}")(update_components)
