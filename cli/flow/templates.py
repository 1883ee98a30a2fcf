"""`wirewright flow templates`: the starter flows."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from cli.documents.flows import TemplateEntry
    from flows.templates import Template


def templates(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The template to print; without it, all are listed.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the starter flows, or print one as spec text."""
    from cli.documents.flows import TemplateList, TemplateText
    from flows import templates as starters

    if name is None:
        if as_json:
            print_json(TemplateList(templates=[_entry(one) for one in starters.templates()]))
            return
        print_rows(
            (one.name, one.description + (f" (needs: {', '.join(one.needs)})" if one.needs else ""))
            for one in starters.templates()
        )
        return
    try:
        chosen = starters.template(name)
    except starters.UnknownTemplate as unknown:
        raise BadUsage("unknown_template", unknown.message, fix=unknown.fix, where="NAME") from None
    if as_json:
        print_json(TemplateText(**_entry(chosen), spec=chosen.spec))
    else:
        print_result(chosen.spec.rstrip("\n"))


def _entry(one: "Template") -> "TemplateEntry":
    from cli.documents.flows import TemplateEntry

    return TemplateEntry(
        name=one.name, title=one.title, description=one.description, tags=[*one.tags], needs=[*one.needs]
    )
