"""`wirewright variables`: the values that secret fields of flows name; set and removed, never shown."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

commands = CommandGroup("List, set and remove the variables that secret fields name.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The variable, such as SERPAPI_API_KEY.")]


@commands.add("list", "wirewright variables list")
def list_variables(*, as_json: Json = False) -> None:
    """List the names of the variables; values are never shown."""
    from cli.documents.stored import VariableList, VariableObject
    from cli.files.local import local_variables

    with _failures():
        names = local_variables().names()
    if as_json:
        print_json(VariableList(variables=[VariableObject(name=name) for name in names]))
        return
    for name in names:
        print_result(name)
    if not names:
        print_message("No variables are kept.")


@commands.add("set", "wirewright variables set SERPAPI_API_KEY < key.txt")
def set_variable(name: Name, *, as_json: Json = False) -> None:
    """Keep a value, which is read from standard input, or typed unseen at a terminal; it is stored encrypted."""
    from cli.documents.stored import VariableObject
    from cli.files.local import local_variables
    from cli.input.texts import STANDARD_INPUT, read
    from runtime.keychain.user_variables import VALUE_LIMIT, BadVariable

    if sys.stdin.isatty():
        value = typer.prompt(f"Value of {name}", hide_input=True, default="", show_default=False, err=True)
    else:
        value = read(STANDARD_INPUT, limit=4 * VALUE_LIMIT + 2).text
    try:
        with _failures():
            local_variables().keep({name: value.strip()})
    except BadVariable as bad:
        raise BadUsage("invalid_variable", bad.message, fix=bad.fix, where="NAME") from None
    if as_json:
        print_json(VariableObject(name=name))
        return
    print_message(f"{name} is kept.")


@commands.add("remove", "wirewright variables remove SERPAPI_API_KEY")
def remove(name: Name, *, as_json: Json = False) -> None:
    """Remove a variable."""
    from cli.documents.stored import VariableRemoved
    from cli.files.local import local_variables

    with _failures():
        removed = local_variables().forget(name)
    if not removed:
        fix = "wirewright variables list shows them."
        raise CommandError("variable_not_found", f"There is no variable {name[:80]!r}.", fix=fix)
    if as_json:
        print_json(VariableRemoved(removed=name))
        return
    print_message(f"{name} is removed.")


@contextmanager
def _failures() -> Generator[None]:
    from runtime.keychain.user_variables import VariablesUnavailable

    try:
        yield
    except VariablesUnavailable as failure:
        raise CommandError("variables_unavailable", failure.message, fix=failure.fix) from None
