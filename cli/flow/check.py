"""`wirewright flow check`: the faults of a flow."""

import typer

from cli.errors import FAILED
from cli.flow.components import ComponentsFolder
from cli.options import FlowFile, Json
from cli.output.columns import print_lines
from cli.output.faults import count_in_words, has_errors, lines
from cli.output.streams import print_json, print_result


def check(f: FlowFile, components: ComponentsFolder = None, *, as_json: Json = False) -> None:
    """Find everything that would keep a flow from running as asked. Spec text is built first."""
    from cli.documents.flows import Checked
    from cli.flow.source import all_faults, load_flow

    loaded, catalogue = load_flow(f, components=components)
    faults = all_faults(loaded, catalogue)
    ok = not has_errors(faults)
    if as_json:
        print_json(Checked(ok=ok, faults=faults))
    else:
        for line in lines(faults):
            print_lines(line)
        print_result(
            f"{'Invalid' if not ok else 'Valid with warnings' if faults else 'Valid'}: {count_in_words(faults)}."
        )
    if not ok:
        raise typer.Exit(FAILED)
