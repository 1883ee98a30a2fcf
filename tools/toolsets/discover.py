"""Finding components: search the catalogue and read how one is used."""

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.catalogue import Catalogue, UnknownComponent
from flows.component_type import Match
from flows.search.limits import limits_of, relevant
from tools.consent.offers import NOT_INSTALLED, installable
from tools.events import Progress
from tools.replies import bullets, match_line
from tools.workbench import Workbench

FIRST_DESCRIPTION = 700
"""The length of the description of the best match of a search by port types."""

NEAREST = 3
"""How many components are listed that do not quite fit."""


async def search_components(
    ctx: RunContext[Workbench], query: str, limit: int = 6, accepts: str = "", produces: str = ""
) -> str:
    """Find component types by what they do.

    Args:
        query: English words, such as "split text".
        limit: how many.
        accepts: only with an input of this type, such as Table.
        produces: only with an output of this type; Tool: an agent can use it.
    """
    await ctx.emit(Progress(step="searching_components", message=f"Searching components: {query[:80]}"))
    key = ("search_components", query, limit, accepts, produces)
    return ctx.deps.cached_read(key, lambda: _found(ctx.deps, query, limit, accepts or None, produces or None))


def _found(bench: Workbench, query: str, limit: int, accepts: str | None, produces: str | None) -> str:
    catalogue = bench.catalogue
    matches = relevant(catalogue.search(query, max(1, min(limit, 20)), accepts=accepts, produces=produces), query)
    found = _installed(catalogue, query, matches, accepts, produces)
    return "\n".join(filter(None, (found, installable(bench, query, matches))))


def _installed(
    catalogue: Catalogue, query: str, matches: list[Match], accepts: str | None, produces: str | None
) -> str:
    impossible = limits_of(query, catalogue)
    if impossible:
        near = f"\nThe nearest:\n{bullets(map(_line, matches[:NEAREST]))}" if matches else ""
        return "\n".join(impossible) + near
    if not matches:
        filters = [f"{verb} {kind}" for verb, kind in (("accepts", accepts), ("produces", produces)) if kind]
        nothing = f"No component {' and '.join([f'matches {query!r}', *filters])}."
        near = relevant(catalogue.search(query, NEAREST), query) if filters else catalogue.nearest_by_name(query)
        if not near:
            return f"{nothing} Try other words for what it should do."
        heading = "Without these filters:" if filters else "The nearest by name, which may not do what you want:"
        return f"{nothing} {heading}\n{bullets(map(_line, near))}"
    listed = bullets(map(_line, matches))
    if accepts or produces:  # it is wanted for its ports, so that a build can follow at once
        return f"{listed}\n\n{catalogue.describe(matches[0].type, FIRST_DESCRIPTION)}"
    return listed


async def describe_component(ctx: RunContext[Workbench], type: str) -> str:
    """Read a component type's ports and fields.

    Args:
        type: as search_components lists it.
    """
    bench = ctx.deps
    missing = bench.bundles.find(type, bench.catalogue)
    if missing is not None and (bundle := bench.bundles.bundle_of(missing.type)) is not None:
        return f"{NOT_INSTALLED} ({bundle.cost}).\n{bench.bundles.types.describe(missing.type, None)}"
    try:
        return bench.cached_read(("describe_component", type), lambda: bench.catalogue.describe(type, None))
    except UnknownComponent as unknown:
        raise ModelRetry(unknown.message if unknown.near else f"{unknown.message} Use search_components.") from unknown


def _line(match: Match) -> str:
    return f"{match_line(match)} ({match.dead_end})" if match.dead_end else match_line(match)


discover_tools = FunctionToolset[Workbench]([search_components, describe_component], max_retries=5, id="discover")
