"""Options that several commands share."""

from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on standard output and nothing else.")]
FlowFile: TypeAlias = Annotated[
    str, typer.Argument(metavar="F", help="Langflow JSON or spec text: a file, or - for standard input.")
]
AllowHost: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST[:PORT]", help="A host that this run may reach where runs ask for hosts. May be repeated."
    ),
]
