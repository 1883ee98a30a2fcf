"""Finding components: search the catalogue and read how one is used."""

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.catalogue import UnknownComponent
from tools.events import Progress
from tools.replies import listing
from tools.workbench import Workbench


async def search_components(ctx: RunContext[Workbench], query: str, limit: int = 6) -> str:
    """Find component types by what they do.

    Args:
        query: a few English words, such as "read a pdf" or "if else".
        limit: how many to list at most.
    """
    await ctx.emit(Progress(step="searching_components", message=f"Searching components: {query[:80]}"))
    matches = ctx.deps.catalogue.search(query, max(1, min(limit, 20)))
    if not matches:
        return f"No component matches {query!r}. Try other words for what it should do."
    return listing([f"{match.type}: {_sentence(match.description)}" for match in matches])


async def describe_component(ctx: RunContext[Workbench], type: str) -> str:
    """Read a component type's ports and fields; needed before wiring or configuring one you do not know.

    Args:
        type: the exact component type, as search_components lists it.
    """
    try:
        return ctx.deps.catalogue.describe(type)
    except UnknownComponent as unknown:
        near = ctx.deps.catalogue.nearest(type)
        raise ModelRetry(
            f"There is no component type {type!r}."
            + (f" Did you mean: {', '.join(near)}?" if near else " Use search_components.")
        ) from unknown


def _sentence(text: str) -> str:
    first = text.split(". ")[0].rstrip(".")
    return first if len(first) <= 140 else f"{first[:137]}..."


discover = FunctionToolset[Workbench]([search_components, describe_component], max_retries=5, id="discover")
