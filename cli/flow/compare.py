"""`wirewright flow diff` and `flow merge`: two flows compared, and two flows on one canvas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.options import Json
from cli.output.faults import has_errors, note_faults
from cli.output.files import writable, write_flow
from cli.output.streams import print_json, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.flow.source import LoadedFlow
    from cli.remote.connection import Server
    from flows.catalogue import Catalogue
    from flows.faults import Fault

First = Annotated[str, typer.Argument(metavar="A", help="A flow: Langflow JSON or spec text; - reads standard input.")]
Second = Annotated[str, typer.Argument(metavar="B", help="Another flow, in the same forms.")]


def diff(a: First, b: Second, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Show what leads from one flow to another, as the changes that an editor would make.

    Exits 0 whether they differ or not. In the JSON document `same` says whether they do, and `same_work` whether
    they differ only in names, ids and places. What only moves things on the canvas is counted, not listed.
    """
    from cli.documents.flows import Differing
    from cli.output.turn import format_change
    from flows.action_json import action_to_json
    from flows.diff import diff as actions_between
    from flows.fingerprints import fingerprint

    loaded, _ = _both(
        a,
        b,
        server_at(server),
        as_json=as_json,
        failed=lambda faults: Differing(ok=False, same=None, actions=[], faults=faults),
    )
    old, new = (one.flow for one in loaded)
    if old is None or new is None:
        raise typer.Exit(FAILED)
    actions = actions_between(old, new)
    if as_json:
        alike = fingerprint(old) == fingerprint(new)
        shown = [action_to_json(action) for action in actions]
        print_json(Differing(ok=True, same=not actions, same_work=alike, actions=shown, faults=[]))
        return
    lines = [line for action in actions if (line := format_change(action))]
    for line in lines:
        print_result(loaded[1].in_words(loaded[0].in_words(line)))
    quiet = len(actions) - len(lines)
    if quiet:
        print_result(f"{quiet} layout or display change{'' if quiet == 1 else 's'}.")
    if not actions:
        print_result("They are the same.")


def merge(
    a: First,
    b: Second,
    out: Annotated[str, typer.Option(metavar="FILE", help="Write the merged flow there, as Langflow JSON.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Add all of flow B to flow A: to the right of what is there, with new ids where theirs are in use."""
    from cli.documents.flows import Merged
    from cli.flow.source import faults_here
    from flows.checks import check
    from flows.merge import merge as merged

    target = writable(out)
    loaded, catalogue = _both(
        a, b, server_at(server), as_json=as_json, failed=lambda faults: Merged(ok=False, flow=None, faults=faults)
    )
    canvas, proposal = (one.flow for one in loaded)
    if canvas is None or proposal is None or target is None:
        raise typer.Exit(FAILED)
    flow = merged(canvas, proposal).flow
    write_flow(target, flow)
    faults = faults_here(check(flow, catalogue)) if catalogue is not None else []
    if as_json:
        print_json(Merged(ok=True, flow=flow.to_json(), faults=faults))
        return
    note_faults(faults)
    print_result(f"{len(flow.nodes)} nodes, {len(flow.edges)} edges. Written to {target}.")


def _both(
    a: str, b: str, server: "Server | None", *, as_json: bool, failed: "Callable[[list[Fault]], object]"
) -> "tuple[list[LoadedFlow], Catalogue | None]":
    """Read both flows; when one does not build, show its faults, in JSON as `failed` has them, and exit."""
    from cli.flow.source import load_flow
    from cli.input.texts import STANDARD_INPUT

    if a == b == STANDARD_INPUT:
        fix = "Name a file for one of them."
        raise BadUsage("bad_value", "Both flows cannot come from standard input.", fix=fix, where="A B")
    loaded: list[LoadedFlow] = []
    catalogue: Catalogue | None = None
    for name in (a, b):
        one, catalogue = load_flow(name) if server is None else _of_either(name, server)
        loaded.append(one)
        if one.flow is None or has_errors(one.faults):
            if as_json:
                print_json(failed(list(one.faults)))
            else:
                note_faults(one.faults)
            raise typer.Exit(FAILED)
    return loaded, catalogue


def _of_either(name: str, server: "Server") -> "tuple[LoadedFlow, Catalogue | None]":
    """A flow from a file of this machine, or one that the server stores: `FLOW`, or `FLOW@VERSION`."""
    from cli.engine import ready_catalogue
    from cli.flow.source import LoadedFlow, load_flow
    from cli.input.texts import STANDARD_INPUT
    from cli.remote.run import stored_flow
    from cli.remote.stores.flows import RemoteFlows

    if name == STANDARD_INPUT or Path(name).exists():
        return load_flow(name)
    flow, _, version = name.rpartition("@")
    if flow and version.isascii() and version.isdecimal():
        flows = RemoteFlows(server)
        return LoadedFlow(flow=flows.at_version(flows.find(flow).id, int(version))), ready_catalogue()
    return stored_flow(server, name)[1], ready_catalogue()
