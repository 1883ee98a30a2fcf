"""The bundles of component types over HTTP: listed, read, and installed for everyone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.assistant import Assistant
from agent.contract.model import Page, Received
from flows.bundles import Bundle
from flows.catalogue import Catalogue
from flows.faults import did_you_mean
from server.errors import ApiError
from server.installs import BundleInstalls
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import SearchQuery, paging, queried
from server.state import ServerState, server_state

PATH = "/api/v1/bundles"


class BundleQuery(SearchQuery):
    """Asks for a page of bundles.

    Attributes:
        q: what stands in the name of a bundle or in one of its component types; empty for all.
        installed: whether they are installed; null for all.
    """

    installed: Literal["true", "false"] | None = None


class BundleEntry(Received):
    """A bundle of component types.

    Attributes:
        name: its name, the second part of its types' names.
        requirement: what is installed for it.
        size_mb: how large the download was when the index was written, in megabytes; null if that is not known.
        types: the names of its component types.
        installed: whether its component types are there.
        state: whether it can be installed, is being installed, is there, or could not be installed.
        progress: the last message about installing it; empty if there was none.
        error: why it could not be installed; null if that was not so.
        fix: what to do about that; empty if nothing failed.
    """

    name: str
    requirement: str
    size_mb: float | None
    types: list[str]
    installed: bool
    state: Literal["available", "installing", "installed", "failed"]
    progress: str
    error: str | None
    fix: str


class BundlePage(Page):
    """Bundles, by name."""

    bundles: list[BundleEntry]


class Bundles(HTTPEndpoint):
    """All bundles."""

    @operation(BundlePage, query=BundleQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, by name."""
        state, asked = server_state(request), queried(BundleQuery, request)
        entry, text = await _entries(state), asked.q.casefold()
        found = [one for one in map(entry, state.assistant.bundles.every()) if _has(one, text)]
        if asked.installed is not None:
            found = [one for one in found if one.installed == (asked.installed == "true")]
        page = found[asked.offset : asked.offset + asked.limit]
        return JsonResponse(BundlePage.model_validate({"bundles": page, **paging(request, asked, len(found))}))


class OneBundle(HTTPEndpoint):
    """One bundle."""

    @operation(BundleEntry)
    async def get(self, request: Request) -> Response:
        """The bundle, and how its installation stands."""
        state = server_state(request)
        return JsonResponse((await _entries(state))(_bundle(state.assistant, request)))


@operation(BundleEntry, also={202: BundleEntry}, headers=("Location",), errors=(409,))
async def install(request: Request) -> Response:
    """Install a bundle for everyone, beside the engine that runs; the reply does not wait for its end."""
    state = server_state(request)
    bundle, entry = _bundle(state.assistant, request), await _entries(state)
    if entry(bundle).installed:
        return JsonResponse(entry(bundle))
    state.installs.start(bundle.name, lambda tell: state.assistant.install([bundle.requirement], tell))
    return JsonResponse(entry(bundle), 202, {"Location": f"{PATH}/{bundle.name}"})


async def _entries(state: ServerState) -> Callable[[Bundle], BundleEntry]:
    """What makes the entry of a bundle."""
    catalogue, assistant, installs = await state.assistant.catalogue(), state.assistant, state.installs
    return lambda bundle: _entry(bundle, assistant, catalogue, installs)


def _entry(bundle: Bundle, assistant: Assistant, catalogue: Catalogue, installs: BundleInstalls) -> BundleEntry:
    types = assistant.bundles.types_of(bundle)
    installed, made = any(one in catalogue for one in types), installs.get(bundle.name)
    standing = "installed" if installed else "available" if made is None else made.state
    return BundleEntry(
        name=bundle.name,
        requirement=bundle.requirement,
        size_mb=bundle.size_mb,
        types=types,
        installed=installed,
        state=standing,
        progress="" if made is None else made.progress,
        error=None if made is None else made.error or None,
        fix="" if made is None else made.fix,
    )


def _has(entry: BundleEntry, text: str) -> bool:
    return any(text in name.casefold() for name in (entry.name, *entry.types))


def _bundle(assistant: Assistant, request: Request) -> Bundle:
    """The bundle in the address: one of the index, never any other package.

    Raises:
        ApiError: 404, there is none.
    """
    name: str = request.path_params["name"]
    every = {one.name: one for one in assistant.bundles.every()}
    if name in every:
        return every[name]
    fix = did_you_mean(name[:80], list(every), otherwise=f"GET {PATH} lists them, such as")
    raise ApiError(404, "bundle_not_found", f"There is no bundle {name[:80]!r}.", fix)


routes = [
    Route(PATH, Bundles),
    Route(f"{PATH}/{{name}}", OneBundle),
    Route(f"{PATH}/{{name}}/install", install, methods=["POST"]),
]
