"""`wirewright flow templates`: the starter flows."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.documents.flows import TemplateEntry
    from cli.remote.connection import Server
    from flows.templates import Template
    from server.routes.flows.templates import TemplateEntry as ServerTemplate
    from server.routes.flows.templates import WholeTemplate


def templates(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The template to print; without it, all are listed.")
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List the starter flows, or print one as spec text."""
    from cli.documents.flows import TemplateList, TemplateText

    remote = server_at(server)
    if name is None:
        listed = [_entry(one) for one in _every(remote)]
        if as_json:
            print_json(TemplateList(templates=listed))
            return
        print_rows(
            (one["name"], one["description"] + (f" (needs: {', '.join(one['needs'])})" if one["needs"] else ""))
            for one in listed
        )
        return
    chosen = _one(remote, name)
    if as_json:
        print_json(TemplateText(**_entry(chosen), spec=chosen.spec))
    else:
        print_result(chosen.spec.rstrip("\n"))


def _every(server: "Server | None") -> "Sequence[Template | ServerTemplate]":
    """The starter flows of a server, or else of this machine."""
    if server is None:
        from flows import templates as starters

        return starters.templates()
    from cli.remote.stores.flows import RemoteFlows

    return RemoteFlows(server).templates()


def _one(server: "Server | None", name: str) -> "Template | WholeTemplate":
    """One starter flow of a server, or else of this machine."""
    if server is not None:
        from cli.remote.stores.flows import RemoteFlows

        return RemoteFlows(server).template(name)
    from flows import templates as starters

    try:
        return starters.template(name)
    except starters.UnknownTemplate as unknown:
        raise BadUsage("unknown_template", unknown.message, fix=unknown.fix, where="NAME") from None


def _entry(one: "Template | ServerTemplate") -> "TemplateEntry":
    from cli.documents.flows import TemplateEntry

    return TemplateEntry(
        name=one.name, title=one.title, description=one.description, tags=[*one.tags], needs=[*one.needs]
    )
