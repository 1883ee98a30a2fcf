"""Looking up what flows are made of: component types, starter flows, and the manual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from flows import templates as starters
from server.mcp.answers import Answer, ComponentList, ComponentSummary, Count, TemplateList, TemplateSummary
from server.mcp.bench import desk_of
from server.mcp.call import Call
from server.mcp.tools.tool import Act, Arguments, Tool, agent_description, agent_schema, own_tool
from tools.replies import bullets

PAGE: Final = 200
"""How many types a list has at most."""


class SearchTemplates(Arguments):
    """Asks for starter flows."""

    query: str = Field(default="", max_length=500, description="What the flow should do; empty for all of them.")
    tags: list[str] = Field(default_factory=list[str], max_length=20, description="Only those with one of these tags.")


async def search_templates(call: Call, asked: SearchTemplates) -> TemplateList:
    """Find starter flows, from which create_flow_from_template makes flows."""
    del call
    every = starters.templates()
    found = starters.fitting(asked.query, len(every)) if asked.query else every
    wanted = {tag.casefold() for tag in asked.tags}
    kept = [one for one in found if not wanted or wanted & {tag.casefold() for tag in one.tags}]
    listed = [TemplateSummary.model_validate(one.to_json()) for one in kept]
    lines = [_line(one) for one in kept]
    return TemplateList(text=bullets(lines) if lines else "No starter flow fits.", templates=listed)


def _line(one: starters.Template) -> str:
    return f"{one.name}: {one.description}" + (f" (needs: {', '.join(one.needs)})" if one.needs else "")


class ListTypes(Arguments):
    """Asks for component types."""

    category: str = Field(default="", max_length=100, description="Only those of this category.")
    limit: int = Field(default=PAGE, ge=1, le=PAGE, description="How many.")
    offset: int = Field(default=0, ge=0, le=100_000, description="How many to skip.")


async def list_component_types(call: Call, asked: ListTypes) -> ComponentList:
    """List component types by name. To find one for a purpose, use search_components."""
    async with desk_of(call) as desk:
        wanted = asked.category.casefold()
        found = sorted(
            (one for one in desk.bench.catalogue if wanted in ("", one.category.casefold())),
            key=lambda one: one.type.casefold(),
        )
    page = found[asked.offset : asked.offset + asked.limit]
    listed = [ComponentSummary(type=one.type, display_name=one.display_name, category=one.category) for one in page]
    lines = [f"{one.type} ({one.category})" for one in page]
    return ComponentList(text="\n".join([f"{len(found)} type(s).", *lines]), components=listed, total=len(found))


class CountTypes(Arguments):
    """Asks how many component types there are."""

    category: str = Field(default="", max_length=100, description="Only those of this category.")


async def count_components(call: Call, asked: CountTypes) -> Count:
    """Tell how many component types are installed."""
    async with desk_of(call) as desk:
        wanted = asked.category.casefold()
        count = sum(wanted in ("", one.category.casefold()) for one in desk.bench.catalogue)
    return Count(text=f"{count} component types.", count=count)


def _looks_up(name: str) -> Act:
    async def act(call: Call, given: Mapping[str, Any]) -> Answer:
        async with desk_of(call) as desk:
            return Answer(text=await desk.use(name, given))

    return act


def _lookup_tool(name: str, called: str | None = None) -> Tool:
    return Tool(
        name=called or name,
        description=agent_description(name),
        group=("canvas", "system"),
        scope="read",
        touch="reads",
        takes=agent_schema(name, of_flow=False),
        gives=Answer,
        act=_looks_up(name),
    )


def lookup_tools() -> list[Tool]:
    """The tools."""
    return [
        _lookup_tool("search_components"),
        _lookup_tool("describe_component", "get_component"),
        own_tool(list_component_types, ListTypes, ComponentList, group="system"),
        own_tool(count_components, CountTypes, Count, group="system"),
        own_tool(search_templates, SearchTemplates, TemplateList, group="system"),
        _lookup_tool("read_manual"),
    ]
