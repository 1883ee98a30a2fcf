"""`wirewright eval results`: the journals, scores and reports that a server shows."""

import json
from typing import Annotated

import typer

from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, needed_server

commands = CommandGroup("List and read the journals, scores and reports that a server shows.")

_WHY = "These are the evaluations of a server; on this machine they are files"
LINES = 20

Name = Annotated[str, typer.Argument(metavar="NAME", help="The evaluation, as `eval results list` names it.")]


@commands.add("list", "wirewright eval results list --server https://flows.example.org")
def list_results(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Only those in whose name it stands.")] = "",
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List the files of evaluations, last written first."""
    from cli.documents.servers import EvaluationList
    from cli.remote.stores.installation import evaluations

    found = evaluations(needed_server(server, _WHY), text)
    if as_json:
        print_json(EvaluationList(evaluations=found))
        return
    print_rows((one.name, one.kind, f"{one.bytes} bytes", one.updated_at[:19]) for one in found)
    if not found:
        print_message("No evaluations are shown there.")


@commands.add("show", "wirewright eval results show demo.jsonl --server https://flows.example.org")
def show(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=50, metavar="N", help="How many at most.")] = LINES,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="How many lines come before them.")] = 0,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Print lines of a journal or of scores, each as JSON."""
    from cli.remote.stores.installation import evaluation_lines

    page = evaluation_lines(needed_server(server, _WHY), name, limit, offset)
    if as_json:
        print_json(page)
        return
    for line in page.entries:
        print_result(json.dumps(line.entry, ensure_ascii=False) if line.entry is not None else f"# {line.error}")
    if page.next is not None:
        print_message(f"{page.total} lines in all; --offset {offset + limit} shows the next ones.")


@commands.add("get", "wirewright eval results get report.html --out report.html")
def get(
    name: Name,
    out: Annotated[str, typer.Option(metavar="FILE", help="Write it there.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Get a journal, scores or a report as it is."""
    from cli.documents.stored import FileWritten
    from cli.output.files import writable, write_bytes
    from cli.remote.stores.installation import evaluation_content

    target = writable(out)
    content = evaluation_content(needed_server(server, _WHY), name)
    if target is None:
        return
    write_bytes(target, content)
    if as_json:
        print_json(FileWritten(path=name, size=len(content), out=str(target)))
    else:
        print_message(f"{name} is in {target}.")
