"""`wirewright components`: find component types and read how they are used."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cli.components.scan import scan
from cli.components.trust import trust
from cli.errors import FAILED, BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_lines, print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from cli.documents.components import BundleObject, Described, InputObject, SearchRow
    from cli.remote.connection import Server
    from flows.bundles import Bundle
    from flows.catalogue import Catalogue
    from flows.component_type import ComponentType, Match
    from server.routes.components import ComponentTypeEntry, WholeComponent

commands = CommandGroup("Find component types and read how they are used.")
commands.add("scan", "wirewright components scan component.py")(scan)
commands.add("trust", "wirewright components trust component.py", "wirewright components trust --list")(trust)


@commands.add(
    "search",
    "wirewright components search 'read a pdf' --limit 3",
    "wirewright components search 'a table' --produces DataFrame",
)
def search(
    text: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="What it should do; - reads queries from standard input, one per line."),
    ],
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many at most.")] = 10,
    *,
    accepts: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Only components that take this type of data, such as Table.")
    ] = None,
    produces: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Only components that give it; Tool: those that an agent can use."),
    ] = None,
    category: Annotated[str | None, typer.Option(metavar="NAME", help="Only components of this category.")] = None,
    server: ServerAddress = None,
    legacy: Annotated[bool, typer.Option("--legacy", help="Legacy components too, in their place by rank.")] = False,
    as_json: Json = False,
) -> None:
    """Find component types by what they do, best first."""
    from cli.engine import ready_catalogue
    from flows.search.limits import limits_of

    here_alone(server, legacy=legacy)
    if (remote := server_at(server)) is not None:
        filters = {"accepts": accepts, "produces": produces, "category": category}
        _search_there(remote, text, limit, filters, as_json=as_json)
        return
    catalogue = ready_catalogue()
    _check_filters(catalogue, accepts=accepts, produces=produces, category=category)
    for number, query in enumerate(_queries() if text == "-" else [text], start=1):
        if isinstance(query, CommandError):
            _print_unreadable(query, as_json=as_json)
            continue
        matches = catalogue.search(query, limit, accepts=accepts, produces=produces, category=category, legacy=legacy)
        near = [] if matches else catalogue.nearest_matches(query)
        impossible = limits_of(query, catalogue)
        more = [] if accepts or produces or category else _installable(query, matches, catalogue)
        if as_json:
            print_json(_row(query, matches, near, list(impossible), more))
        else:
            _print(query, number, matches, near, more, titled=text == "-")
            for sentence in impossible:
                print_message(sentence)


@commands.add(
    "describe", "wirewright components describe ChatInput", "wirewright components describe 'prompt template'"
)
def describe(
    type_name: Annotated[str, typer.Argument(metavar="TYPE", help="The component type, as search lists it.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Read a component type's ports and fields."""
    from cli.documents.components import Unknown
    from cli.engine import ready_catalogue
    from flows.bundles import bundle_index
    from runtime.install.bundles import install_hint

    if (remote := server_at(server)) is not None:
        from cli.remote.stores.components import described

        whole = described(remote, type_name)
        if not as_json:
            print_result(whole.text)
            return
        there = _described(whole, whole.text)
        if whole.installed is False and whole.bundle is not None:
            there["installed"], there["bundle"] = False, _bundle(whole.bundle)
        print_json(there)
        return
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
        print_json(Unknown(ok=False, type=type_name, error=stopped.to_json()))
        raise typer.Exit(FAILED)
    text = catalogue.describe(found.type)
    if bundle is not None:
        text = f"Not installed ({bundle.cost}). {install_hint(bundle.requirement)}\n{text}"
    if as_json:
        document = _described(found, text)
        if bundle is not None:
            document["installed"], document["bundle"] = False, _bundle(bundle)
        print_json(document)
    else:
        for line in text.splitlines():
            print_lines(line)


def _search_there(server: "Server", text: str, limit: int, filters: dict[str, str | None], *, as_json: bool) -> None:
    """Search the component types of a server."""
    from cli.remote.stores.components import found_by

    for number, query in enumerate(_queries() if text == "-" else [text], start=1):
        if isinstance(query, CommandError):
            _print_unreadable(query, as_json=as_json)
            continue
        page = found_by(server, query, limit, **filters)
        more = [(one, one.bundle) for one in page.not_installed or () if one.bundle is not None]
        if as_json:
            print_json(_row(query, page.components, [], [], more))
        else:
            _print(query, number, page.components, [], more, titled=text == "-")


def _check_filters(catalogue: "Catalogue", **given: str | None) -> None:
    """Refuse a filter that no component can pass.

    Raises:
        BadUsage: naming the option, and the categories or types that are most similar.
    """
    from flows.faults import did_you_mean
    from flows.search.filters import categories, data_types
    from flows.search.tokenizer import plain

    for option, name in given.items():
        if name is None:
            continue
        word, known = ("category", categories(catalogue)) if option == "category" else ("type", data_types(catalogue))
        if plain(name) not in map(plain, known):
            fix = did_you_mean(name, known, otherwise="there are")
            raise BadUsage(f"unknown_{word}", f"There is no {word} {name!r}.", fix=fix, where=f"--{option}")


def _queries() -> Iterator[str | CommandError]:
    from cli.input.lines import typed_lines  # a single query waits for no more imports

    return typed_lines()


def _installable(query: str, matches: "list[Match]", catalogue: "Catalogue") -> "list[tuple[Match, Bundle]]":
    """The types of bundles that are not installed and may be wanted, with their bundles."""
    from flows.bundles import bundle_index
    from flows.search.limits import relevant

    index = bundle_index()
    found = index.search(query, catalogue, relevant(matches, query))
    return [(match, bundle) for match in found if (bundle := index.bundle_of(match.type)) is not None]


def _bundle(bundle: "Bundle") -> "BundleObject":
    from cli.documents.components import BundleObject

    return BundleObject(name=bundle.name, requirement=bundle.requirement, size_mb=bundle.size_mb)


def _row(
    query: str,
    matches: "Sequence[Match | ComponentTypeEntry]",
    near: "Sequence[Match | ComponentTypeEntry]",
    impossible: list[str],
    more: "Sequence[tuple[Match | ComponentTypeEntry, Bundle]]",
) -> "SearchRow":
    from cli.documents.components import Found, Installable, SearchRow

    row = SearchRow(
        query=query,
        matches=[Found(type=m.type, display_name=m.display_name, score=round(m.score or 0.0, 6)) for m in matches],
    )
    if near:
        row["nearest"] = [match.type for match in near]
    if impossible:
        row["limits"] = impossible
    if more:
        row["not_installed"] = [
            Installable(type=match.type, display_name=match.display_name, bundle=_bundle(bundle))
            for match, bundle in more
        ]
    return row


def _print_unreadable(refused: CommandError, *, as_json: bool) -> None:
    from cli.documents.components import SearchRow

    if as_json:
        print_json(SearchRow(query=None, matches=[], error=refused.to_json()))
    else:
        print_message(f"{refused.where}: {refused.message} {refused.fix}")


def _print(
    query: str,
    number: int,
    matches: "Sequence[Match | ComponentTypeEntry]",
    near: "Sequence[Match | ComponentTypeEntry]",
    more: "Sequence[tuple[Match | ComponentTypeEntry, Bundle]]",
    *,
    titled: bool,
) -> None:
    if titled:
        print_result(query if number == 1 else f"\n{query}")
    if not matches:
        fix = f"The nearest: {', '.join(match.type for match in near)}." if near else "Try other words for it."
        print_message(f"No component matches {query!r}. {fix}")
    print_rows((match.type, _first_line(match)) for match in matches)
    print_rows((match.type, f"{_first_line(match)} (not installed: {bundle.cost})") for match, bundle in more)


def _first_line(match: "Match | ComponentTypeEntry") -> str:
    return match.description.splitlines()[0] if match.description else ""


def _unknown(type_name: str, catalogue: "Catalogue") -> CommandError:
    from flows.faults import suggest

    fix = suggest(catalogue.nearest(type_name)) or "Find one with: wirewright components search"
    return CommandError("unknown_component", f"There is no component type {type_name!r}.", fix=fix, where=type_name)


def _described(found: "ComponentType | WholeComponent", text: str) -> "Described":
    from cli.documents.components import Described, OutputObject

    return Described(
        ok=True,
        type=found.type,
        display_name=found.display_name,
        category=found.category,
        description=found.description,
        legacy=found.legacy,
        beta=found.beta,
        inputs=[_input(name, field) for name, field in found.template.items() if name != "code"],
        outputs=[
            OutputObject(name=output.get("name"), display_name=output.get("display_name"), types=output.get("types"))
            for output in found.outputs
        ],
        text=text,
    )


def _input(name: str, field: "dict[str, object] | object") -> "InputObject":
    from cli.documents.components import InputObject

    definition = dict(field) if isinstance(field, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  (whatever was received)
    return InputObject(
        name=name,
        display_name=definition.get("display_name"),
        type=definition.get("type"),
        required=definition.get("required"),
        advanced=definition.get("advanced"),
        show=definition.get("show"),
        input_types=definition.get("input_types"),
        options=definition.get("options"),
        value=definition.get("value"),
    )
