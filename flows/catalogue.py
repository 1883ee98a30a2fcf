"""The catalogue: every component type that can be used, with its ports, fields and source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from flows.faults import nearest
from flows.jsonvalues import Json, JsonObject, NotJsonError, as_list, as_object, as_text, copy_json
from flows.paths import cache_folder

if TYPE_CHECKING:
    from flows.search import Index

FORMAT = 1
REMEDY = "run: wirewright runner install"
_OUTPUT_DEFAULTS: JsonObject = {"hidden": False, "options": None, "required_inputs": None}


class CatalogueMissing(FileNotFoundError):
    """There is no catalogue yet; `fix` says how to get one."""

    fix = REMEDY

    def __init__(self) -> None:
        super().__init__(f"There is no component catalogue yet; {REMEDY}")


class CatalogueFormatError(ValueError):
    """The catalogue file is damaged or of another version; `fix` says how to make it anew."""

    def __init__(self, message: str) -> None:
        self.fix = f"Make it anew; {REMEDY}"
        super().__init__(f"The component catalogue {message}. {self.fix}")


class UnknownComponent(KeyError):
    """No component type has this name; `near` holds the most similar ones."""

    def __init__(self, type_name: str, near: list[str]) -> None:
        self.type = type_name
        self.near = near
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        self.message = f"There is no component type {type_name!r}.{hint}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


def can_be_tool(definition: JsonObject) -> bool:
    """Return whether such a component can be a tool: a field declares tool mode, or the class opts in."""
    fields = as_object(definition.get("template")).values()
    return bool(definition.get("add_tool_output")) or any(as_object(field).get("tool_mode") for field in fields)


@dataclass(frozen=True)
class ComponentType:
    """One kind of component; `raw` is the definition that a node carries and must not be changed."""

    type: str
    raw: JsonObject

    @property
    def display_name(self) -> str:
        """The name a person sees."""
        return as_text(self.raw.get("display_name")) or self.type

    @property
    def description(self) -> str:
        """What the component says about itself."""
        return as_text(self.raw.get("description"))

    @property
    def category(self) -> str:
        """The family it belongs to."""
        return as_text(self.raw.get("category"))

    @cached_property
    def template(self) -> Mapping[str, JsonObject]:
        """The fields by name."""
        entries = as_object(self.raw.get("template"))
        return MappingProxyType({name: as_object(field) for name, field in entries.items() if isinstance(field, dict)})

    @cached_property
    def outputs(self) -> tuple[JsonObject, ...]:
        """The outputs, with every key that the engine's own builder fills in."""
        return tuple(as_object(output) for output in as_list(self.definition["outputs"]) if isinstance(output, dict))

    @property
    def legacy(self) -> bool:
        """Whether the engine keeps it only for old flows."""
        return self.raw.get("legacy") is True

    @property
    def beta(self) -> bool:
        """Whether it is still being tried out."""
        return self.raw.get("beta") is True

    @property
    def code(self) -> str:
        """The component's source."""
        return as_text(as_object(self.template.get("code")).get("value"))

    @cached_property
    def can_be_tool(self) -> bool:
        """Whether an agent can use it as a tool: a field declares tool mode, or the class opts in."""
        return can_be_tool(self.raw)

    @cached_property
    def definition(self) -> JsonObject:
        """What a new node carries as `data.node`; shared between nodes, never changed."""
        outputs: list[Json] = [
            {**_OUTPUT_DEFAULTS, **output} if isinstance(output, dict) else output
            for output in as_list(self.raw.get("outputs"))
        ]
        return {**self.raw, "outputs": outputs}


@dataclass(frozen=True, kw_only=True)
class Match:
    """One answer to a search, best score first."""

    type: str
    display_name: str
    score: float
    description: str = ""
    category: str = ""


class Catalogue:
    """The component types by name; it is read once and never changes."""

    def __init__(self, components: Mapping[str, ComponentType], *, version: str = "") -> None:
        self._components = dict(components)
        self.version = version

    @classmethod
    def load(cls, path: Path | None = None) -> Catalogue:
        """Read the catalogue file at `path`, or the cached export of the runner.

        Raises:
            CatalogueMissing: there is no such file; the runner makes it when it is installed.
            CatalogueFormatError: the file is damaged or of another format.
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
        """Return the catalogue that the parsed catalogue file `obj` holds.

        Raises:
            CatalogueFormatError: `obj` has another form.
        """
        try:
            return cls._from_fresh(copy_json(obj))
        except NotJsonError as error:
            raise CatalogueFormatError(f"holds what JSON cannot: {error}") from None

    @classmethod
    def _from_fresh(cls, obj: Json) -> Catalogue:
        document = as_object(obj)
        if document.get("format") != FORMAT:
            raise CatalogueFormatError(f"is not of format {FORMAT}")
        components = document.get("components")
        if not isinstance(components, dict):
            raise CatalogueFormatError("has no components")
        known: dict[str, ComponentType] = {}
        for name, raw in components.items():
            if not isinstance(raw, dict) or not isinstance(raw.get("template"), dict):
                raise CatalogueFormatError(f"has a component without a template: {name!r}")
            known[name] = ComponentType(name, raw)
        return cls(known, version=as_text(document.get("lfx")))

    def get(self, type_name: str) -> ComponentType | None:
        """Return the component type with exactly this name, or None."""
        return self._components.get(type_name)

    def __contains__(self, type_name: object) -> bool:
        return type_name in self._components

    def __iter__(self) -> Iterator[ComponentType]:
        return iter(self._components.values())

    def __len__(self) -> int:
        return len(self._components)

    def nearest(self, type_name: str, limit: int = 3) -> list[str]:
        """Return the type names most like `type_name`, by type or display name; legacy ones last."""
        by_name = {part.type: part.type for part in self if not part.legacy}
        for part in self:
            if not part.legacy:
                by_name.setdefault(part.display_name, part.type)
        found = [by_name[name] for name in nearest(type_name, by_name, limit)]
        if not found:
            found = nearest(type_name, self._components, limit)
        if not found:
            found = [match.type for match in self.search(type_name, limit)]
        return list(dict.fromkeys(found))[:limit]

    @cached_property
    def _index(self) -> Index:
        from flows.search import Index

        return Index(self)

    def search(self, query: str, limit: int = 10) -> list[Match]:
        """Return the component types that answer `query` best, best first; legacy ones only when named exactly."""
        return self._index.search(query, limit)

    def describe(self, type_name: str) -> str:
        """Return a compact account of a component type for a model: ports, fields, options, ranges, defaults.

        Raises:
            UnknownComponent: there is no such type; the error names the most similar ones.
        """
        part = self.get(type_name)
        if part is None:
            raise UnknownComponent(type_name, self.nearest(type_name))
        from flows.describe import describe_component

        return describe_component(part)
