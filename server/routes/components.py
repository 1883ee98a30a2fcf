"""Component types over HTTP: searched, listed page by page, and described."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Page, Received, optional
from flows.bundles import Bundle, bundle_index
from flows.catalogue import Catalogue, UnknownComponent
from flows.component_type import ComponentType
from flows.document import Json, JsonObject
from flows.edits.new_nodes import new_node
from flows.faults import suggest
from flows.search.limits import relevant
from server.errors import ApiError, not_ready
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import PageQuery, paging, queried
from server.state import ServerState, server_state

QUERY_LIMIT = 500
"""Characters of a search."""


class ComponentQuery(PageQuery):
    """Asks for a page of component types.

    Attributes:
        q: what is searched for; empty for everything, by name.
        category: the category that they are in.
        accepts: a type that one of their inputs takes.
        produces: a type that one of their outputs has.
    """

    q: str = ""
    category: str = ""
    accepts: str = ""
    produces: str = ""


class ComponentTypeEntry(Received):
    """A component type as lists show it.

    Attributes:
        type: its name.
        display_name: the name to show.
        description: what it does.
        category: its category.
        legacy: whether it is out of date.
        beta: whether it is new.
        score: how well it fits the search, where there was one.
        bundle: the bundle that has it, for one that is not installed.
    """

    type: str
    display_name: str
    description: str
    category: str
    legacy: bool
    beta: bool
    score: float | None = optional()
    bundle: Bundle | None = optional()


class ComponentPage(Page):
    """Component types: by name, or best first."""

    components: list[ComponentTypeEntry]
    not_installed: list[ComponentTypeEntry] | None = optional()


class WholeComponent(ComponentTypeEntry):
    """A component type with its ports and fields.

    Attributes:
        text: its description for a model.
        template: its fields as Langflow stores them.
        outputs: its outputs as Langflow stores them.
        node: a new component of the type as a flow stores it, which needs an id (`id` and `data.id`) and a position.
        installed: false for one of a bundle that is not installed.
    """

    text: str
    template: dict[str, Any]
    outputs: list[Any]
    node: dict[str, Any]
    installed: bool | None = optional()


@operation(ComponentPage, query=ComponentQuery)
async def components(request: Request) -> Response:
    """One page of the types: by name, or best first when `q` is a search.

    `category`, `accepts` and `produces` filter: a category, a type of an input, a type of an output.
    """
    asked = queried(ComponentQuery, request)
    catalogue = await _catalogue(server_state(request))
    found = _found(catalogue, request)
    page: list[Json] = found[asked.offset : asked.offset + asked.limit]
    body: JsonObject = {"components": page, **paging(request, asked, len(found))}
    if asked.offset == 0 and (more := _not_installed(catalogue, request)):
        body["not_installed"] = more
    return JsonResponse(body)


@operation(WholeComponent)
async def component(request: Request) -> Response:
    """One type with its ports and fields, as a model reads them and as Langflow stores them."""
    catalogue = await _catalogue(server_state(request))
    name = request.path_params["type"]
    known, missing = catalogue.get(name), bundle_index().find(name, catalogue)
    if missing is not None and (bundle := bundle_index().bundle_of(missing.type)) is not None:
        described = _details(missing, bundle_index().types)
        return JsonResponse({**described, "installed": False, "bundle": bundle.to_json()})
    if known is None:
        fix = suggest(catalogue.nearest(name)) or "GET /api/v1/components lists them."
        raise ApiError(404, "component_not_found", f"There is no component type {name[:80]!r}.", fix)
    return JsonResponse(_details(known, catalogue))


def _details(known: ComponentType, catalogue: Catalogue) -> JsonObject:
    try:
        text = catalogue.describe(known.type)
    except UnknownComponent:
        text = known.description
    template: JsonObject = dict(known.template)
    outputs: list[Json] = list(known.outputs)
    node = new_node(known, "").raw
    return {**_entry(known), "text": text, "template": template, "outputs": outputs, "node": node}


async def _catalogue(state: ServerState) -> Catalogue:
    """The catalogue.

    Raises:
        ApiError: 503, the engine that exports it is still being installed.
    """
    if not state.assistant.knows_components:
        message = "The component types are not known yet: the flow engine is being installed."
        raise not_ready("catalogue_missing", message, "Try again in a minute; /readyz shows the progress.")
    return await state.assistant.catalogue()


def _found(catalogue: Catalogue, request: Request) -> list[Json]:
    options = request.query_params
    category = options.get("category", "").strip().lower()
    query = options.get("q", "").strip()[:QUERY_LIMIT]
    accepts, produces = options.get("accepts") or None, options.get("produces") or None
    if not query and not accepts and not produces:
        every = sorted(catalogue, key=lambda known: known.type.lower())
        return [_entry(known) for known in every if category in ("", known.category.lower())]
    matches = catalogue.search(query, len(catalogue), accepts=accepts, produces=produces)
    scored = [(catalogue.get(match.type), match.score) for match in matches]
    return [
        {**_entry(known), "score": score}
        for known, score in scored
        if known is not None and category in ("", known.category.lower())
    ]


def _not_installed(catalogue: Catalogue, request: Request) -> list[Json]:
    """The types of bundles that could be installed for a search without filters."""
    options = request.query_params
    query = options.get("q", "").strip()[:QUERY_LIMIT]
    if not query or any(options.get(name) for name in ("category", "accepts", "produces")):
        return []
    index = bundle_index()
    matches = index.search(query, catalogue, relevant(catalogue.search(query), query))
    found = [(index.types.get(match.type), index.bundle_of(match.type)) for match in matches]
    return [{**_entry(one), "bundle": bundle.to_json()} for one, bundle in found if one is not None and bundle]


def _entry(known: ComponentType) -> JsonObject:
    return {
        "type": known.type,
        "display_name": known.display_name,
        "description": known.description,
        "category": known.category,
        "legacy": known.legacy,
        "beta": known.beta,
    }


routes = [
    Route("/api/v1/components", components, methods=["GET"]),
    Route("/api/v1/components/{type:path}", component, methods=["GET"]),
]
