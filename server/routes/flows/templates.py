"""The starter flows over HTTP: listed, read, and stored as new flows."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import BeforeValidator, Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Page, Received
from flows import templates as starters
from flows.document import Flow
from flows.spec.build import build
from runtime.install.bundles import install_hint
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import SearchQuery, clean_text, paging, queried
from server.routes.flows.stored import created
from server.store.flows import FlowEntry

PATH = "/api/v1/templates"


class TemplateEntry(Received):
    """A starter flow.

    Attributes:
        name: its identifier.
        title: the flow's name.
        description: one sentence.
        tags: words to search for.
        needs: what a run needs besides an input: `model`, `embeddings`, `network`, `file`, or packages.
    """

    name: str
    title: str
    description: str
    tags: list[str]
    needs: list[str]


class TemplatePage(Page):
    """Starter flows: by name, or best first where something was searched for."""

    templates: list[TemplateEntry]


class TemplateNode(Received):
    """A component of a starter flow.

    Attributes:
        id: its id in the spec.
        type: its component type.
    """

    id: str
    type: str


class WholeTemplate(TemplateEntry):
    """A starter flow with what it consists of.

    Attributes:
        spec: the flow as spec text.
        nodes: its components.
    """

    spec: str
    nodes: list[TemplateNode]


def _cleaned(given: object) -> object:
    return clean_text(given) if isinstance(given, str) else given


class NewFlow(ContractModel):
    """How a flow that begins as a starter flow is called.

    Attributes:
        name: its name; null for the template's.
    """

    name: Annotated[str, BeforeValidator(_cleaned)] | None = Field(default=None, min_length=1, max_length=200)


class Templates(HTTPEndpoint):
    """All starter flows."""

    @operation(TemplatePage, query=SearchQuery)
    async def get(self, request: Request) -> Response:
        """One page of them: by name, or best first for a search."""
        asked = queried(SearchQuery, request)
        every = starters.templates()
        found = starters.fitting(asked.q, len(every)) if asked.q else every
        page = [_entry(one) for one in found[asked.offset : asked.offset + asked.limit]]
        return JsonResponse(TemplatePage.model_validate({"templates": page, **paging(request, asked, len(found))}))


class OneTemplate(HTTPEndpoint):
    """One starter flow."""

    @operation(WholeTemplate)
    async def get(self, request: Request) -> Response:
        """The starter flow with its spec."""
        chosen = _template(request)
        nodes = [TemplateNode(id=name, type=kind) for name, kind in chosen.nodes]
        return JsonResponse(WholeTemplate(**_entry(chosen).model_dump(), spec=chosen.spec, nodes=nodes))


@operation(FlowEntry, body=NewFlow, status=201, headers=("ETag", "Location"), errors=(409,), body_optional=True)
async def start_flow(request: Request) -> Response:
    """Store a new flow that begins as a starter flow."""
    caller, chosen = caller_of(request), _template(request)
    asked = validated(NewFlow, await read_object(request, caller.settings.body_limit, optional=True))
    catalogue = await caller.assistant.catalogue()
    built = await asyncio.to_thread(build, chosen.spec, catalogue)
    if built.flow is None:
        first = next(fault for fault in built.faults if fault.is_error)
        fix = f"{install_hint(*chosen.packages)}." if chosen.packages else first.fix
        raise ApiError(409, "template_not_available", f"It cannot be built here: {first.message}", fix)
    flow = built.flow if asked.name is None else Flow.from_json({**built.flow.raw, "name": asked.name})
    return created(await (await caller.flows()).add(flow))


def _entry(one: starters.Template) -> TemplateEntry:
    return TemplateEntry(
        name=one.name, title=one.title, description=one.description, tags=[*one.tags], needs=[*one.needs]
    )


def _template(request: Request) -> starters.Template:
    """The starter flow in the address.

    Raises:
        ApiError: 404, there is none.
    """
    name: str = request.path_params["name"]
    try:
        return starters.template(name[:200])
    except starters.UnknownTemplate as unknown:
        raise ApiError(404, "template_not_found", unknown.message, unknown.fix) from None


routes = [
    Route(PATH, Templates),
    Route(f"{PATH}/{{name}}", OneTemplate),
    Route(f"{PATH}/{{name}}/flows", start_flow, methods=["POST"]),
]
