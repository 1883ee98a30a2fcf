"""`wirewright flow build`: a flow from spec text."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED
from cli.flow.components import ComponentsFolder
from cli.options import FlowFile, Json
from cli.output.faults import count_in_words, has_errors, note_faults
from cli.output.files import writable, write_flow
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from pathlib import Path

    from cli.flow.source import LoadedFlow


def build(
    f: FlowFile,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the flow there, as Langflow JSON, once it is built.")
    ] = None,
    components: ComponentsFolder = None,
    *,
    as_json: Json = False,
) -> None:
    """Build a flow from spec text, and report all its faults at once."""
    from cli.documents.flows import Built
    from cli.flow.source import all_faults, load_flow

    target = writable(out)
    loaded, catalogue = load_flow(f, components=components)
    if loaded.flow is not None and catalogue is not None and not loaded.from_spec:
        loaded = replace(loaded, faults=tuple(all_faults(loaded, catalogue)))
    flow = loaded.flow if not has_errors(loaded.faults) else None
    if target is not None and flow is not None:
        write_flow(target, flow)
    if as_json:
        document = None if flow is None else flow.to_json()
        print_json(Built(ok=flow is not None, flow=document, faults=list(loaded.faults)))
    else:
        _print_built(loaded, target if flow is not None else None)
    if flow is None:
        raise typer.Exit(FAILED)


def _print_built(loaded: "LoadedFlow", target: "Path | None") -> None:
    from flows.describe.diagrams import ascii_graph

    note_faults(loaded.faults)
    if loaded.flow is None:
        print_result(f"Not built: {count_in_words(loaded.faults)}.")
        return
    nodes = sum(not node.is_note for node in loaded.flow.nodes)
    print_result(
        f"{loaded.flow.name or 'Flow'}: {nodes} nodes, {len(loaded.flow.edges)} edges; {count_in_words(loaded.faults)}."
    )
    print_result(ascii_graph(loaded.flow))
    if target is not None:
        print_result(f"Written to {target}.")
