"""Filtering components by accepted and provided types and by category."""

from __future__ import annotations

from collections.abc import Iterable

from flows.component_type import TYPE_MIGRATIONS, ComponentType
from flows.json_values import texts
from flows.search.tokenizer import plain


def fits(component: ComponentType, accepts: str | None, produces: str | None, category: str | None) -> bool:
    """Say whether a component accepts and provides these types and belongs to this category; None matches all.

    Case is ignored; `Data` is `JSON` and `DataFrame` is `Table`.
    """
    return (
        (category is None or plain(category) == plain(component.category))
        and (accepts is None or _kind(accepts) in _accepted(component))
        and (produces is None or _kind(produces) in _produced(component))
    )


def categories(components: Iterable[ComponentType]) -> list[str]:
    """Return the categories of components, in order of their names."""
    return sorted({component.category for component in components})


def data_types(components: Iterable[ComponentType]) -> list[str]:
    """Return the types of data that components accept or provide, in order of their names."""
    listed = list(components)
    named = {kind for one in listed for field in one.template.values() for kind in texts(field.get("input_types"))}
    named |= {kind for one in listed for output in one.outputs for kind in texts(output.get("types"))}
    return sorted({*named, *TYPE_MIGRATIONS, "Tool"})


def _accepted(component: ComponentType) -> set[str]:
    taken = {kind for field in component.template.values() for kind in texts(field.get("input_types"))}
    for output in component.outputs:
        if output.get("allows_loop"):
            taken.update(texts(output.get("types")), texts(output.get("loop_types")))
    return set(map(_kind, taken))


def _produced(component: ComponentType) -> set[str]:
    given = {kind for output in component.outputs for kind in texts(output.get("types"))}
    return {*map(_kind, given), *({"tool"} if component.can_be_tool else ())}


def _kind(name: str) -> str:
    return _RENAMED.get(plain(name), plain(name))


_RENAMED = {plain(old): plain(new) for old, new in TYPE_MIGRATIONS.items()}
