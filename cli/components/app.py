"""`wirewright components`: find component types and read how they are used."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.components.scan import scan
from cli.components.trust import trust
from cli.errors import FAILED, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from flows.bundles import Bundle
    from flows.catalogue import Catalogue
    from flows.component_type import ComponentType, Match

commands = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Find component types and read how they are used."
)
commands.command(epilog="Example: wirewright components scan component.py --json")(scan)
commands.command(epilog="Example: wirewright components trust component.py")(trust)


@commands.command(epilog="Example: wirewright components search 'read a pdf' --limit 3")
def search(
    text: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="What it should do; - reads queries from standard input, one per line."),
    ],
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many matches to give at most.")] = 10,
    *,
    accepts: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Only components that take this type of data, such as Table.")
    ] = None,
    produces: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Only components that give it; Tool: those that an agent can use."),
    ] = None,
    category: Annotated[str | None, typer.Option(metavar="NAME", help="Only components of this category.")] = None,
    legacy: Annotated[bool, typer.Option("--legacy", help="Legacy components too, in their place by rank.")] = False,
    as_json: Json = False,
) -> None:
    """Find component types by what they do, best first."""
    from cli.engine import ready_catalogue
    from flows.search.limits import limits_of

    catalogue = ready_catalogue()
    for number, query in enumerate(_queries() if text == "-" else [text], start=1):
        matches: list[Match] = []
        if query is not None:
            matches = catalogue.search(
                query, limit, accepts=accepts, produces=produces, category=category, legacy=legacy
            )
        near = [] if matches or query is None else catalogue.nearest_matches(query)
        impossible = [] if query is None else limits_of(query, catalogue)
        more = [] if query is None or accepts or produces or category else _installable(query, matches, catalogue)
        if as_json:
            _print_json(query, number, matches, near, {"limits": impossible, "not_installed": _bundles_json(more)})
        else:
            _print(query, number, matches, near, more, titled=text == "-")
            for sentence in impossible:
                print_message(sentence)


@commands.command(epilog="Example: wirewright components describe ChatInput")
def describe(
    type_name: Annotated[str, typer.Argument(metavar="TYPE", help="The component type, as search lists it.")],
    *,
    as_json: Json = False,
) -> None:
    """Read a component type's ports and fields."""
    from cli.engine import ready_catalogue
    from flows.bundles import bundle_index
    from runtime.install.bundles import install_hint

    catalogue = ready_catalogue()
    found = catalogue.find(type_name)
    bundle = None
    if found is None:
        index = bundle_index()
        found = index.find(type_name, catalogue)
        bundle, catalogue = (None, catalogue) if found is None else (index.bundle_of(found.type), index.types)
    if found is None:
        stopped = _unknown(type_name, catalogue)
        if not as_json:
            raise stopped
        print_json({"ok": False, "type": type_name, "error": stopped.to_json()})
        raise typer.Exit(FAILED)
    text = catalogue.describe(found.type)
    if bundle is not None:
        text = f"Not installed ({bundle.cost}). {install_hint(bundle.requirement)}\n{text}"
    if as_json:
        missing = {} if bundle is None else {"installed": False, "bundle": bundle.to_json()}
        print_json({**_described(found, text), **missing})
    else:
        print_result(text)


def _queries() -> Iterator[str | None]:
    """The queries on standard input, each as soon as its line arrives; None for a line that is not UTF-8."""
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield None


def _installable(query: str, matches: "list[Match]", catalogue: "Catalogue") -> "list[tuple[Match, Bundle]]":
    """The types of bundles that are not installed and may be wanted, with their bundles."""
    from flows.bundles import bundle_index
    from flows.search.limits import relevant

    index = bundle_index()
    found = index.search(query, catalogue, relevant(matches, query))
    return [(match, bundle) for match in found if (bundle := index.bundle_of(match.type)) is not None]


def _bundles_json(found: "list[tuple[Match, Bundle]]") -> list[Any]:
    return [
        {"type": match.type, "display_name": match.display_name, "bundle": bundle.to_json()} for match, bundle in found
    ]


def _print_json(
    query: str | None, number: int, matches: "list[Match]", near: "list[Match]", more: "dict[str, list[Any]]"
) -> None:
    found = [{"type": m.type, "display_name": m.display_name, "score": round(m.score, 6)} for m in matches]
    row: dict[str, object] = {"query": query, "matches": found}
    if near:
        row["nearest"] = [match.type for match in near]
    row.update({key: value for key, value in more.items() if value})
    if query is None:
        message = "The line is not UTF-8 text."
        row["error"] = CommandError("unreadable", message, fix="Send UTF-8.", where=f"line {number}").to_json()
    print_json(row)


def _print(
    query: str | None,
    number: int,
    matches: "list[Match]",
    near: "list[Match]",
    more: "list[tuple[Match, Bundle]]",
    *,
    titled: bool,
) -> None:
    if query is None:
        print_message(f"line {number}: not UTF-8 text.")
        return
    if titled:
        print_result(query if number == 1 else f"\n{query}")
    if not matches:
        fix = f"The nearest: {', '.join(match.type for match in near)}." if near else "Try other words for it."
        print_message(f"No component matches {query!r}. {fix}")
    width = max((len(match.type) for match in matches), default=0)
    for match in matches:
        print_result(f"{match.type:<{width}}  {_first_line(match)}".rstrip())
    for match, bundle in more:
        print_result(f"{match.type}  {_first_line(match)} (not installed: {bundle.cost})")


def _first_line(match: "Match") -> str:
    return match.description.splitlines()[0] if match.description else ""


def _unknown(type_name: str, catalogue: "Catalogue") -> CommandError:
    from flows.faults import suggest

    fix = suggest(catalogue.nearest(type_name)) or "Find one with: wirewright components search"
    return CommandError("unknown_component", f"There is no component type {type_name!r}.", fix=fix, where=type_name)


def _described(found: "ComponentType", text: str) -> dict[str, object]:
    return {
        "ok": True,
        "type": found.type,
        "display_name": found.display_name,
        "category": found.category,
        "description": found.description,
        "legacy": found.legacy,
        "beta": found.beta,
        "inputs": [_input(name, field) for name, field in found.template.items() if name != "code"],
        "outputs": [
            {"name": output.get("name"), "display_name": output.get("display_name"), "types": output.get("types")}
            for output in found.outputs
        ],
        "text": text,
    }


def _input(name: str, field: "dict[str, object] | object") -> dict[str, object]:
    definition = dict(field) if isinstance(field, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)
    keys = ("display_name", "type", "required", "advanced", "show", "input_types", "options", "value")
    return {"name": name, **{key: definition.get(key) for key in keys}}
