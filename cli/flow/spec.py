"""`wirewright flow spec`: a flow as spec text."""

import typer

from cli.errors import FAILED
from cli.options import FlowFile, Json
from cli.output.faults import note_faults
from cli.output.streams import print_json, print_result


def spec(f: FlowFile, *, as_json: Json = False) -> None:
    """Print a flow as spec text: the short form that people and models write."""
    from cli.documents.flows import Printed
    from cli.engine import cached_catalogue
    from cli.flow.source import flow_of, load_flow
    from cli.input.texts import read
    from flows.spec import print_spec

    source = read(f)
    if source.is_json:
        flow, faults = flow_of(source), ()
    else:
        loaded, _ = load_flow(f, source.text)
        flow, faults = loaded.flow, loaded.faults
    printed = None if flow is None else print_spec(flow, cached_catalogue())
    text = None if printed is None else printed.text
    faults = (*faults, *(() if printed is None else printed.faults))  # what the text leaves out
    if as_json:
        print_json(Printed(ok=text is not None, spec=text, faults=list(faults)))
    else:
        note_faults(faults)
        if text is not None:
            print_result(text.rstrip("\n"))
    if text is None:
        raise typer.Exit(FAILED)
