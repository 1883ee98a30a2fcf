"""The user's variables over HTTP: named and set, never read. Secret fields of flows name them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Page, Received
from agent.models.keys import key_for_address
from flows.fields.key_shapes import SHAPED
from runtime.keychain.user_variables import NAME, BadVariable
from runtime.telemetry import log_event
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import PageQuery, paging, queried


class Value(BaseModel):
    """The value of a variable."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    value: str = Field(repr=False)


class VariableName(Received):
    """A variable; its value is never shown.

    Attributes:
        name: its name.
    """

    name: str


class VariablePage(Page):
    """Variables, by name."""

    variables: list[VariableName]


class Variables(HTTPEndpoint):
    """All variables."""

    @operation(VariablePage, query=PageQuery)
    async def get(self, request: Request) -> Response:
        """Their names."""
        asked = queried(PageQuery, request)
        names = await caller_of(request).variables.names()
        page = [VariableName(name=name) for name in names[asked.offset : asked.offset + asked.limit]]
        return JsonResponse(VariablePage.model_validate({"variables": page, **paging(request, asked, len(names))}))


class OneVariable(HTTPEndpoint):
    """One variable."""

    @operation(VariableName, body=Value)
    async def put(self, request: Request) -> Response:
        """Store its value, encrypted; one that was stored before is replaced."""
        name, caller = _name(request), caller_of(request)
        given = validated(Value, await read_object(request, caller.settings.body_limit))
        key = key_for_address(name, await caller.variables.names())
        if key is not None:
            fix = f"DELETE {key} first, store {name}, and then the key that is to be sent there."
            raise ApiError(422, "key_required", f"{key} was stored for another address.", fix, "$.value")
        try:
            await caller.variables.keep({name: given.value})
        except BadVariable as bad:
            raise ApiError(422, "invalid_variable", bad.message, bad.fix, "$.value") from None
        log_event("assistant.variable.stored", name=name)
        return JsonResponse(VariableName(name=name))

    @operation(errors=(422,))
    async def delete(self, request: Request) -> Response:
        """Remove it."""
        name = _name(request)
        if not await caller_of(request).variables.forget(name):
            fix = "GET /api/v1/variables lists the variables."
            raise ApiError(404, "variable_not_found", f"There is no variable {name}.", fix)
        log_event("assistant.variable.removed", name=name)
        return Response(status_code=204)


def _name(request: Request) -> str:
    """The name in the path; a key that someone put there is refused, and not repeated.

    Raises:
        ApiError: 422, it is not the name of a variable.
    """
    name = request.path_params["name"]
    if NAME.fullmatch(name) is None or SHAPED.search(name):
        fix = "Use letters, digits and underscores, such as SERPAPI_API_KEY, and send the value in the body."
        raise ApiError(422, "invalid_variable", "This is not the name of a variable.", fix)
    return name


routes = [
    Route("/api/v1/variables", Variables),
    Route("/api/v1/variables/{name}", OneVariable),
]
