"""Model providers over HTTP: their availability, and their keys, which can be stored and removed but never read."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Received, optional
from agent.models.keys import BadKey, KeptKeys, KeyNeeded, ProviderKeys
from agent.models.providers import DEMO, PROVIDERS, ProviderInfo, is_address
from flows.document import Json, JsonObject
from runtime.telemetry import log_event
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.state import server_state


class StoredKeys(BaseModel):
    """What a client stores for a provider, replacing what was stored before.

    Attributes:
        api_key: the provider's key.
        base_url: the address, for providers that have one.
        values: other variables that the provider reads, by name.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    api_key: str | None = Field(default=None, repr=False)
    base_url: str | None = None
    values: dict[str, str] = Field(default_factory=dict[str, str], repr=False)

    def variables(self, info: ProviderInfo) -> dict[str, str]:
        """The values by variable.

        Raises:
            ApiError: 422, there are no values, or the provider has no such key or address.
        """
        named = dict(self.values)
        known = ", ".join(info.variables)
        for value, endings, field in (
            (self.api_key, ("_API_KEY", "_BEDROCK"), "api_key"),
            (self.base_url, ("_BASE_URL", "_ENDPOINT", "_RUNTIME"), "base_url"),
        ):
            if value is not None:
                matching = [name for name in info.variables if name.endswith(endings)]
                if not matching:
                    message = f"{info.title} has no {field}."
                    raise ApiError(422, "invalid_request", message, f"Send values: {known}.", f"$.{field}")
                named[matching[0]] = value
        if not named:
            raise ApiError(
                422,
                "invalid_request",
                "There is nothing to store.",
                f"Send api_key, or values: {', '.join(info.variables)}.",
            )
        return named


class ProviderVariable(Received):
    """A variable that a provider reads.

    Attributes:
        name: its name.
        source: where its value comes from; null if it has none.
        address: the address that the user has stored in it, without what stands behind a question mark; absent if
            there is none. Those of the environment are told to an admin alone.
    """

    name: str
    source: Literal["stored", "environment"] | None
    address: str | None = optional()


class ProviderEntry(Received):
    """A provider of models.

    Attributes:
        name: its name.
        display_name: the name to show.
        available: whether one of the sets under `needs` is complete.
        stored: whether something is stored for it here.
        variables: what it reads.
        needs: the sets of variables with which it can be used.
        models: its models, newest first.
    """

    name: str
    display_name: str
    available: bool
    stored: bool
    variables: list[ProviderVariable]
    needs: list[list[str]]
    models: list[str]


class ProviderList(Received):
    """All providers.

    Attributes:
        providers: the providers.
        demo: the name by which a turn asks for the demo planner.
    """

    providers: list[ProviderEntry]
    demo: str


class Providers(HTTPEndpoint):
    """All providers."""

    @operation(ProviderList)
    async def get(self, request: Request) -> Response:
        """List them, and which of them are available."""
        keys = await caller_of(request).keys.read()
        listed: list[Json] = [_described(info, keys, request) for info in PROVIDERS.values()]
        return JsonResponse({"providers": listed, "demo": DEMO})


class OneProvider(HTTPEndpoint):
    """One provider."""

    @operation(ProviderEntry)
    async def get(self, request: Request) -> Response:
        """Whether it is available, and from where."""
        info, keys = _provider(request)
        return JsonResponse(_described(info, await keys.read(), request))

    @operation(ProviderEntry, body=StoredKeys)
    async def put(self, request: Request) -> Response:
        """Store its key, encrypted; what was stored before is replaced."""
        info, keys = _provider(request)
        given = validated(StoredKeys, await read_object(request, server_state(request).settings.body_limit))
        values = given.variables(info)
        try:
            await keys.store(info.name, values)
        except KeyNeeded as needed:
            raise ApiError(422, "key_required", needed.message, needed.fix, "$") from None
        except BadKey as bad:
            raise ApiError(422, "invalid_key", bad.message, bad.fix, f"$.values.{bad.variable[:60]}") from None
        log_event("assistant.provider.stored", provider=info.name, variables=sorted(values))
        return JsonResponse(_described(info, await keys.read(), request))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Remove what is stored for it; the environment stays as it is."""
        info, keys = _provider(request)
        if not await keys.forget(info.name):
            raise ApiError(404, "nothing_stored", f"Nothing is stored for {info.title}.", "There is nothing to remove.")
        log_event("assistant.provider.removed", provider=info.name)
        return Response(status_code=204)


def _provider(request: Request) -> tuple[ProviderInfo, ProviderKeys]:
    name = request.path_params["name"]
    info = PROVIDERS.get(name)
    if info is None:
        fix = f"Use one of: {', '.join(PROVIDERS)}."
        raise ApiError(404, "unknown_provider", f"Unknown provider: {name[:60]}.", fix)
    return info, caller_of(request).keys


def _described(info: ProviderInfo, keys: KeptKeys, request: Request) -> JsonObject:
    stored, values = keys.stored(info.name), keys.environment()
    available = info.available(values)
    names: list[Json] = []
    elsewhere = {name for other in PROVIDERS for name in keys.stored(other)}  # providers share variables
    for name in info.variables:
        source = "stored" if name in elsewhere else "environment" if values.get(name, "").strip() else None
        told = is_address(name) and (source == "stored" or (source is not None and "admin" in request.user.scopes))
        address: JsonObject = {"address": _shown(values[name])} if told else {}
        names.append({"name": name, "source": source, **address})
    needs: list[Json] = [list[Json](names) for names in info.variable_sets]
    return {
        "name": info.name,
        "display_name": info.title,
        "available": available,
        "stored": bool(stored),
        "variables": names,
        "needs": needs,
        "models": list[Json](info.models),
    }


def _shown(address: str) -> str:
    """An address as it may be shown: without a user, and without a query, in which keys stand at times."""
    parts = urlsplit(address.strip())
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "…" if parts.query else "", ""))


routes = [
    Route("/api/v1/providers", Providers),
    Route("/api/v1/providers/{name}", OneProvider),
]
