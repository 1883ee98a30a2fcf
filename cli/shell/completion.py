"""`wirewright completion`: what makes a shell complete commands and options."""

import os
from typing import Annotated, Literal

import typer

from cli.options import Json
from cli.output.streams import print_json, print_result

VARIABLE = "_WIREWRIGHT_COMPLETE"
"""Set by a shell that asks what may come next."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    *,
    as_json: Json = False,
) -> None:
    """Print the script that completes commands and options in a shell."""
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="wirewright", complete_var=VARIABLE, shell=shell)
    if as_json:
        from cli.documents.installation import CompletionScript

        print_json(CompletionScript(shell=shell, script=script))
    else:
        print_result(script)


def prepare() -> None:
    """Get ready to answer a shell that asks; does nothing otherwise."""
    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
