"""The catalogue: every component type that can be used, with its ports, fields and source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from flows.component_type import DESCRIPTION_BUDGET, ComponentType, Match
from flows.faults import suggest
from flows.json_values import Json, NotJsonError, as_object, as_text, copy_json
from flows.paths import cache_folder
from flows.search.aliases import aliases
from flows.search.tokenizer import plain

if TYPE_CHECKING:
    from flows.search.index import Segment
    from flows.search.ranking import Index

FORMAT = 1
_MISSPELT = 0.6
"""The likeness from which on a query may be a misspelt name."""
REMEDY = "run: wirewright runner install"


class CatalogueMissing(FileNotFoundError):
    """There is no catalogue; `fix` says how to get one."""

    fix = REMEDY

    def __init__(self) -> None:
        super().__init__(f"There is no component catalogue yet; {REMEDY}")


class CatalogueFormatError(ValueError):
    """The catalogue file is damaged or from another version; `fix` says how to recreate it."""

    def __init__(self, message: str) -> None:
        self.fix = f"Recreate it; {REMEDY}"
        super().__init__(f"The component catalogue {message}. {self.fix}")


class UnknownComponent(KeyError):
    """No component type has this name; `near` holds the most similar ones."""

    def __init__(self, type_name: str, near: list[str]) -> None:
        self.type = type_name
        self.near = near
        self.message = f"There is no component type {type_name!r}. {suggest(near)}".rstrip()
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class Catalogue:
    """The component types by name; it is read once and never changes.

    `shadowed` lists the components given to `with_components` that were left out because a built-in has their name.
    """

    def __init__(self, components: Mapping[str, ComponentType], *, version: str = "") -> None:
        self._components = dict(components)
        self._user_components: dict[str, ComponentType] = {}
        self._built_in: Catalogue = self
        self.version = version
        self.shadowed: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: Path | None = None) -> Catalogue:
        """Read the catalogue file at `path`, or the cached export of the runner.

        Raises:
            CatalogueMissing: there is no such file; installing the runner creates it.
            CatalogueFormatError: the file is damaged or has another format.
        """
        try:
            text = (path or cache_folder() / "catalogue.json").read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise CatalogueMissing from None
        try:
            found: Json = json.loads(text)
        except ValueError:
            raise CatalogueFormatError("is not JSON") from None
        return cls._from_fresh(found)

    @classmethod
    def from_json(cls, obj: object) -> Catalogue:
        """Return the catalogue in `obj`, a parsed catalogue file.

        Raises:
            CatalogueFormatError: `obj` has another form.
        """
        try:
            return cls._from_fresh(copy_json(obj))
        except NotJsonError as error:
            raise CatalogueFormatError(f"is not JSON: {error}") from None

    @classmethod
    def _from_fresh(cls, obj: Json) -> Catalogue:
        document = as_object(obj)
        if document.get("format") != FORMAT:
            raise CatalogueFormatError(f"is not of format {FORMAT}")
        components = document.get("components")
        if not isinstance(components, dict):
            raise CatalogueFormatError("has no components")
        all_choices, lacking = as_object(document.get("choices")), as_object(document.get("lacking"))
        known: dict[str, ComponentType] = {}
        for name, raw in components.items():
            if not isinstance(raw, dict) or not isinstance(raw.get("template"), dict):
                raise CatalogueFormatError(f"has a component without a template: {name!r}")
            choices = all_choices.get(name, {})
            known[name] = ComponentType(
                name, raw, choices if isinstance(choices, dict) else None, as_object(lacking.get(name))
            )
        return cls(known, version=as_text(document.get("lfx")))

    def with_components(self, components: Iterable[ComponentType]) -> Catalogue:
        """Return a view with a user's components in addition to those of this catalogue, which does not change.

        A component with the name of a built-in or of a bundle's component (its type, class or short name, ignoring
        case and punctuation) is left out and listed in `shadowed`. A user component with the same name is replaced.
        Only the user's components are indexed again.
        """
        view = Catalogue({}, version=self.version)
        view._built_in = self._built_in
        view._user_components = dict(self._user_components)
        shadowed = dict.fromkeys(self.shadowed)
        for component in components:
            if plain(component.type) in self._built_in._reserved_names:
                shadowed[component.type] = None
            else:
                view._user_components[component.type] = component
        view._components = {**self._built_in._components, **view._user_components}
        view.shadowed = tuple(shadowed)
        return view

    def get(self, type_name: str) -> ComponentType | None:
        """Return the component type of this name, or None.

        Besides its exact type, a component answers to its class and to the short names it has had in flows
        (`OpenAIModel`, `PromptComponent`), unless another component has that name too.
        """
        known = self._components.get(type_name) or self._components.get(self._built_in._aliases.get(type_name, ""))
        return known or self._user_components.get(self._declared_names.get(type_name, ""))

    @cached_property
    def _declared_names(self) -> Mapping[str, str]:
        """The user's components by the names that they declare."""
        return {as_text(component.raw.get("name")): component.type for component in self._user_components.values()}

    def find(self, type_name: str) -> ComponentType | None:
        """Return the component type for a name that a person wrote: as `get`, or by display name (`Chat Input`).

        Case, spaces and punctuation do not count where no name is exactly as written. A display name that several
        current components share matches none; legacy components are not considered by it.
        """
        known = self.get(type_name) or self._components.get(self._by_display_name.get(type_name.strip(), ""))
        return known or self._components.get(self._by_plain_name.get(plain(type_name), ""))

    @cached_property
    def _by_display_name(self) -> Mapping[str, str]:
        shown: dict[str, str] = {}
        for component in self._components.values():
            if not component.legacy:
                shown[component.display_name] = "" if component.display_name in shown else component.type
        return MappingProxyType(shown)

    @cached_property
    def _by_plain_name(self) -> Mapping[str, str]:
        """The types by their names without case and punctuation, those that several components share left out."""
        found: dict[str, str] = {}
        for names in (
            {name: name for name in self._components},
            self._by_display_name,
            {**self._built_in._aliases, **self._declared_names},
        ):
            level: dict[str, str] = {}
            for name, known in names.items():
                level[plain(name)] = known if level.get(plain(name), known) == known else ""
            found = {**level, **found}
        return MappingProxyType({name: known for name, known in found.items() if name})

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return aliases(self._components.values())

    @cached_property
    def _reserved_names(self) -> frozenset[str]:
        return frozenset(map(plain, (*self._components, *self._aliases)))

    def __contains__(self, type_name: object) -> bool:
        return type_name in self._components

    def __iter__(self) -> Iterator[ComponentType]:
        return iter(self._components.values())

    def __len__(self) -> int:
        return len(self._components)

    def nearest(self, type_name: str, limit: int = 3) -> list[str]:
        """Return the types with names most similar to `type_name` (type, display or short name); legacy ones last."""
        return self._index.similar(type_name, limit)

    @cached_property
    def _segment(self) -> Segment:
        from flows.search.index import Segment

        return Segment(self._user_components.values() if self._user_components else self._components.values())

    @cached_property
    def _index(self) -> Index:
        from flows.search.ranking import Index

        return Index([self._built_in._segment, self._segment] if self._user_components else [self._built_in._segment])

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        accepts: str | None = None,
        produces: str | None = None,
        category: str | None = None,
        legacy: bool = False,
    ) -> list[Match]:
        """Return the component types that match `query` best, best first; legacy ones only if named.

        Args:
            query: words, a name or a sentence; without any, all components that pass the filters are listed by name.
            limit: the maximum number of results.
            accepts: only components with an input that accepts this type, such as `Table`.
            produces: only components with an output of this type; `Tool` selects what an agent can use.
            category: only components of this category.
            legacy: also legacy components, named or not.
        """
        if accepts is None and produces is None and category is None and (query.strip() or not legacy):
            return self._index.search(query, limit, legacy=legacy)
        from flows.search.filters import fits

        allowed = [component for component in self if fits(component, accepts, produces, category)]
        if query.strip():
            return self._index.search(query, limit, {component.type for component in allowed}, legacy=legacy)
        shown = (component for component in allowed if legacy or not component.legacy)
        current = sorted(shown, key=lambda component: component.display_name.casefold())
        return [component.as_match(1.0) for component in current[: max(limit, 0)]]

    def mentions(self, word: str) -> bool:
        """Return whether a word, or another form of it, occurs in what is known of any component type."""
        return self._index.mentions(word)

    def nearest_matches(self, query: str, limit: int = 3) -> list[Match]:
        """Return suggestions for a query without results: matches without filters, or else the most similar names."""
        return self._index.search(query, limit) or self._index.nearest(query, limit)

    def nearest_by_name(self, query: str, limit: int = 3) -> list[Match]:
        """Return the types whose names are so similar to a query that it may be one of them, misspelt."""
        return [match for match in self._index.nearest(query, limit) if match.score >= _MISSPELT]

    def describe(self, type_name: str, budget: int | None = DESCRIPTION_BUDGET) -> str:
        """Return a compact description of a component type for a model: ports, fields, options, ranges, defaults.

        Args:
            type_name: the type, or a name that `find` accepts.
            budget: the length in characters not to exceed; ports and required fields are always included. None leaves
                nothing out.

        Raises:
            UnknownComponent: there is no such type; the error names the most similar ones.
        """
        component = self.find(type_name)
        if component is None:
            raise UnknownComponent(type_name, self.nearest(type_name))
        from flows.describe.component import describe_component

        return describe_component(component, budget)
