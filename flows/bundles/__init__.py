"""Bundles that can be installed: which there are, what they need, and their component types."""

from __future__ import annotations

import json
import lzma
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from flows.catalogue import Catalogue
from flows.component_type import ComponentType, Match
from flows.json_values import Json, JsonObject, as_object, as_text

__all__ = ["Bundle", "BundleIndex", "bundle_index"]

_FILE = "index.json.xz"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle of component types.

    Attributes:
        name: its name, the second part of its types' names.
        requirement: what is installed for it.
        size_mb: how large the download was when the index was written, in megabytes; None if that is not known.
    """

    name: str
    requirement: str
    size_mb: float | None = None

    def to_json(self) -> JsonObject:
        """Return the bundle as it is listed."""
        return {"name": self.name, "requirement": self.requirement, "size_mb": self.size_mb}

    @property
    def cost(self) -> str:
        """What installing it takes, in a few words."""
        size = "" if self.size_mb is None else f", {max(self.size_mb, 1):.0f} MB"
        return f"bundle {self.name}{size}"


class BundleIndex:
    """The bundles and their component types, whose sources are not known before they are installed."""

    def __init__(self, bundles: Mapping[str, Bundle], types: Catalogue) -> None:
        """Take the bundles by the names of their types.

        Args:
            bundles: the bundle of each type.
            types: the types.
        """
        self._bundles = bundles
        self.types = types

    @classmethod
    def from_json(cls, obj: Json) -> BundleIndex:
        """Return the index in `obj`, a parsed index file.

        Raises:
            CatalogueFormatError: `obj` has another form.
        """
        rows = as_object(as_object(obj).get("bundles"))
        bundles = {name: _bundle(name, as_object(row)) for name, row in rows.items()}
        types = Catalogue.from_json(obj)
        return cls({one.type: bundles[one.type.split(":")[1]] for one in types}, types)

    def every(self) -> list[Bundle]:
        """Return all bundles, by name."""
        return sorted({bundle.name: bundle for bundle in self._bundles.values()}.values(), key=lambda one: one.name)

    def types_of(self, bundle: Bundle) -> list[str]:
        """Return the names of a bundle's types."""
        return sorted(name for name, known in self._bundles.items() if known.name == bundle.name)

    def find(self, type_name: str, catalogue: Catalogue) -> ComponentType | None:
        """Return the type of this name if a bundle that is not installed has it; None for every other name.

        Args:
            type_name: the type, or another name that a catalogue's `find` takes.
            catalogue: the installed types.
        """
        if catalogue.find(type_name) is not None:
            return None
        found = self.types.find(type_name)
        return None if found is None or found.type in catalogue else found

    def bundle_of(self, type_name: str) -> Bundle | None:
        """Return the bundle that a type of this index belongs to; None for every other type."""
        known = self.types.get(type_name)
        return None if known is None else self._bundles.get(known.type)

    def missing(self, type_names: Iterable[str], catalogue: Catalogue) -> list[ComponentType]:
        """Return those of these types that a bundle has which is not installed, each once; arguments as of `needed`."""
        found = (self.find(name, catalogue) for name in type_names)
        return list({one.type: one for one in found if one is not None}.values())

    def with_missing(self, type_names: Iterable[str], catalogue: Catalogue) -> Catalogue:
        """Return a catalogue with those of these types that are not installed, to check a flow before they are."""
        missing = self.missing(type_names, catalogue)
        return Catalogue({one.type: one for one in (*catalogue, *missing)}, version=catalogue.version)

    def needed(self, type_names: Iterable[str], catalogue: Catalogue) -> list[Bundle]:
        """Return the bundles that have to be installed for these types, each once.

        Args:
            type_names: the types; those that are installed or that no bundle has do not count.
            catalogue: the installed types.
        """
        bundles = (self.bundle_of(one.type) for one in self.missing(type_names, catalogue))
        return list({bundle.name: bundle for bundle in bundles if bundle is not None}.values())

    def search(self, query: str, catalogue: Catalogue, matches: Collection[Match], limit: int = 3) -> list[Match]:
        """Return the types that could be installed for a query, best first: few, since most queries need none.

        Args:
            query: the query.
            catalogue: the installed types.
            matches: those of them that have to do with the query.
            limit: the maximum number of results.
        """
        from flows.bundles.matching import wanted_types

        return wanted_types(query, self.types, self._bundle_name, catalogue, matches)[: max(limit, 0)]

    def _bundle_name(self, type_name: str) -> str:
        bundle = self._bundles.get(type_name)
        return "" if bundle is None else bundle.name


def _bundle(name: str, row: JsonObject) -> Bundle:
    size = row.get("size_mb")
    known = float(size) if isinstance(size, int | float) else None
    return Bundle(name=name, requirement=as_text(row.get("requirement")), size_mb=known)


@cache
def bundle_index() -> BundleIndex:
    """Return the index that ships with the package; it is read once."""
    found: Json = json.loads(lzma.decompress((files(__package__ or __name__) / _FILE).read_bytes()))
    return BundleIndex.from_json(found)
