"""The other names of component types: their classes, and the short names that flows have called them by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from flows.json_values import as_object, as_text
from flows.search.tokenizer import plain

if TYPE_CHECKING:
    from flows.component_type import ComponentType


def short_names(part: ComponentType) -> tuple[str, ...]:
    """Return the names besides its type that a component goes by: its own, its class, its class without "Component".

    A bundle's type is written `ext:<bundle>:<Class>@<slot>`; it also goes by that without the slot.
    """
    unslotted, _, slot = part.type.partition("@")
    bundled = unslotted.rpartition(":")[2] if part.type.startswith("ext:") else ""
    class_name = as_text(as_object(part.raw.get("metadata")).get("component_class_name")) or bundled
    names = (
        as_text(part.raw.get("name")),
        class_name,
        class_name.removesuffix("Component"),
        bundled,
        unslotted if slot else "",
    )
    return tuple(dict.fromkeys(name for name in names if name and name != part.type))


def aliases(parts: Iterable[ComponentType]) -> Mapping[str, str]:
    """Return the types by their short names; a name that two current components have, or a type, is left out.

    A current component goes before a legacy one, also where the name is only what people see on it.
    """
    known = list(parts)
    types = {part.type for part in known}
    shown = {plain(part.display_name): part.type for part in known if not part.legacy}
    found: dict[str, str] = {}
    for legacy in (False, True):
        claims: dict[str, set[str]] = {}
        for part in known:
            if part.legacy is legacy:
                for name in short_names(part):
                    claims.setdefault(name, set()).add(part.type)
        for name, claimants in claims.items():
            if len(claimants) == 1 and name not in types and name not in found:
                owner = next(iter(claimants))
                if not legacy or shown.get(plain(name), owner) == owner:
                    found[name] = owner
    return MappingProxyType(found)
