"""Which stored flows have components of an earlier engine."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Json, JsonObject
from flows.edits.updates import stale_types
from server.access.caller import Caller
from server.errors import not_ready


async def stale_flows(caller: Caller, text: str) -> list[JsonObject]:
    """The entries of the flows with stale components, last changed first, each with their types under `stale`.

    Args:
        caller: whose flows.
        text: what their names contain; empty for all.

    Raises:
        ApiError: 503, the components of the engine are not known yet.
    """
    catalogue = await known_components(caller)
    found: list[JsonObject] = []
    for entry, codes in await (await caller.flows()).engine_codes(text):
        types = stale_types(codes, catalogue)
        if types:
            found.append({**entry.to_json(), "stale": list[Json](types)})
    return found


async def known_components(caller: Caller) -> Catalogue:
    """The component types of this engine.

    Raises:
        ApiError: 503, they are not known yet.
    """
    if not caller.assistant.knows_components:
        message = "The component types are not known yet: the flow engine is being installed."
        raise not_ready("catalogue_missing", message, "Try again in a minute; /readyz shows the progress.")
    return await caller.assistant.catalogue()
