"""Alternative names of component types: their classes, and short names used in flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from flows.json_values import as_object, as_text
from flows.search.tokenizer import plain

if TYPE_CHECKING:
    from flows.component_type import ComponentType


def short_names(component: ComponentType) -> tuple[str, ...]:
    """Return the alternative names of a component: its declared name, its class, its class without "Component".

    The type of a bundle's component is `ext:<bundle>:<Class>@<slot>`; it may also be written without the slot.
    """
    unslotted, _, slot = component.type.partition("@")
    bundled = unslotted.rpartition(":")[2] if component.type.startswith("ext:") else ""
    class_name = as_text(as_object(component.raw.get("metadata")).get("component_class_name")) or bundled
    names = (
        as_text(component.raw.get("name")),
        class_name,
        class_name.removesuffix("Component"),
        bundled,
        unslotted if slot else "",
    )
    return tuple(dict.fromkeys(name for name in names if name and name != component.type))


def aliases(components: Iterable[ComponentType]) -> Mapping[str, str]:
    """Return the types by their short names, without names that are ambiguous or equal to a type.

    A current component takes precedence over a legacy one, even if the name is only its display name.
    """
    known = list(components)
    types = {component.type for component in known}
    shown = {plain(component.display_name): component.type for component in known if not component.legacy}
    found: dict[str, str] = {}
    for legacy in (False, True):
        claims: dict[str, set[str]] = {}
        for component in known:
            if component.legacy is legacy:
                for name in short_names(component):
                    claims.setdefault(name, set()).add(component.type)
        for name, claimants in claims.items():
            if len(claimants) == 1 and name not in types and name not in found:
                owner = next(iter(claimants))
                if not legacy or shown.get(plain(name), owner) == owner:
                    found[name] = owner
    return MappingProxyType(found)
