"""`wirewright variables`: the values that secret fields of flows name; set and removed, never shown."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.files.local import LocalVariables
    from cli.remote.stores.variables import RemoteVariables

commands = CommandGroup("List, set and remove the variables that secret fields name.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The variable, such as SERPAPI_API_KEY.")]


@commands.add("list", "wirewright variables list")
def list_variables(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the names of the variables; values are never shown."""
    from cli.documents.stored import VariableList, VariableObject

    with _failures():
        names = _variables(server).names()
    if as_json:
        print_json(VariableList(variables=[VariableObject(name=name) for name in names]))
        return
    for name in names:
        print_result(name)
    if not names:
        print_message("No variables are kept.")


@commands.add("set", "wirewright variables set SERPAPI_API_KEY < key.txt")
def set_variable(name: Name, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Keep a value, which is read from standard input, or typed unseen at a terminal; it is stored encrypted."""
    from cli.documents.stored import VariableObject
    from cli.input.texts import STANDARD_INPUT, read
    from runtime.keychain.user_variables import VALUE_LIMIT, BadVariable

    kept = _variables(server)
    if sys.stdin.isatty():
        value = typer.prompt(f"Value of {name}", hide_input=True, default="", show_default=False, err=True)
    else:
        value = read(STANDARD_INPUT, limit=4 * VALUE_LIMIT + 2).text
    try:
        with _failures():
            kept.keep({name: value.strip()})
    except BadVariable as bad:
        raise BadUsage("invalid_variable", bad.message, fix=bad.fix, where="NAME") from None
    if as_json:
        print_json(VariableObject(name=name))
        return
    print_message(f"{name} is kept.")


@commands.add("remove", "wirewright variables remove SERPAPI_API_KEY")
def remove(name: Name, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Remove a variable."""
    from cli.documents.stored import VariableRemoved

    with _failures():
        removed = _variables(server).forget(name)
    if not removed:
        fix = "wirewright variables list shows them."
        raise CommandError("variable_not_found", f"There is no variable {name[:80]!r}.", fix=fix)
    if as_json:
        print_json(VariableRemoved(removed=name))
        return
    print_message(f"{name} is removed.")


def _variables(server: str | None) -> "LocalVariables | RemoteVariables":
    """The variables on the server that is named, or else those of this machine's user."""
    from cli.files.local import LocalVariables

    found = server_at(server)
    if found is None:
        return LocalVariables()
    from cli.remote.stores.variables import RemoteVariables

    return RemoteVariables(found)


@contextmanager
def _failures() -> Generator[None]:
    from runtime.database.errors import StoreUnavailable

    try:
        yield
    except StoreUnavailable as failure:
        raise CommandError("variables_unavailable", failure.message, fix=failure.fix) from None
