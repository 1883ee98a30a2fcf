"""Component types: the catalogue entry of one kind of component, and how other modules look one up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from flows.json_values import Json, JsonObject, as_list, as_object, as_text

TOOL_OUTPUT = "component_as_tool"
"""The output of a component that is used as an agent's tool."""
TYPE_MIGRATIONS = {"Data": "JSON", "DataFrame": "Table"}
"""Data types that Langflow has renamed, old name to new."""
DESCRIPTION_BUDGET = 1500
"""Characters that a description should not exceed."""
_OUTPUT_DEFAULTS: JsonObject = {"hidden": False, "options": None, "required_inputs": None}


class ComponentTypes(Protocol):
    """Anything that returns component types by name, such as a `Catalogue`."""

    def get(self, type_name: str, /) -> ComponentType | None:
        """Return the component type of this name, or None."""
        ...


def can_be_tool(definition: JsonObject) -> bool:
    """Return whether such a component can be a tool: a field declares tool mode, or the class opts in."""
    fields = as_object(definition.get("template")).values()
    return bool(definition.get("add_tool_output")) or any(as_object(field).get("tool_mode") for field in fields)


@dataclass(frozen=True, kw_only=True)
class Match:
    """One result of a search."""

    type: str
    display_name: str
    score: float
    description: str = ""
    category: str = ""
    dead_end: str = ""


_SERVICES: Mapping[str, str] = MappingProxyType(
    {
        "RunFlow": "runs another flow that Langflow has stored",
        "SubFlow": "runs another flow that Langflow has stored",
        "FlowTool": "runs another flow that Langflow has stored",
        "Knowledge": "keeps its texts in Langflow's knowledge bases",
        "KnowledgeBase": "keeps its texts in Langflow's knowledge bases",
        "KnowledgeIngestion": "keeps its texts in Langflow's knowledge bases",
        "MemoryBase": "keeps its texts in Langflow's memory bases",
    }
)
_INSTEAD: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("Knowledge", "KnowledgeBase", "KnowledgeIngestion"), "FileVectorStore")
)


@dataclass(frozen=True)
class ComponentType:
    """One kind of component; `raw` is the definition that its nodes carry and must not be changed."""

    type: str
    raw: JsonObject
    choices: JsonObject | None = field(default_factory=dict[str, Json])
    """How its options change fields and outputs (`flows.fields.dynamic`); None if the engine could not examine it."""
    lacking: JsonObject = field(default_factory=dict[str, Json])
    """Packages that its code imports and the engine does not have: lists under `always` and `sometimes`."""

    @property
    def display_name(self) -> str:
        """The name shown to people."""
        return as_text(self.raw.get("display_name")) or self.type

    @property
    def description(self) -> str:
        """The description of the component."""
        return as_text(self.raw.get("description"))

    @property
    def category(self) -> str:
        """The category that it belongs to."""
        return as_text(self.raw.get("category"))

    @cached_property
    def template(self) -> Mapping[str, JsonObject]:
        """The fields by name."""
        entries = as_object(self.raw.get("template"))
        return MappingProxyType({name: as_object(field) for name, field in entries.items() if isinstance(field, dict)})

    @cached_property
    def outputs(self) -> tuple[JsonObject, ...]:
        """The outputs, with every key that the engine's builder adds."""
        return tuple(as_object(output) for output in as_list(self.definition["outputs"]) if isinstance(output, dict))

    @property
    def service(self) -> str | None:
        """What it does with services of Langflow that the engine alone does not have; None if it needs none."""
        return _SERVICES.get(self.type)

    @property
    def instead(self) -> str | None:
        """The component type that does the same without such a service; None if there is none."""
        return _INSTEAD.get(self.type)

    @property
    def dead_end(self) -> str:
        """Why it does not run here, and what does; empty if it runs."""
        always = ", ".join(as_text(name) for name in as_list(self.lacking.get("always")))
        if self.service is None and not always:
            return ""
        other = f"; use {self.instead}" if self.instead else ""
        return f"does not run here: {self.service or f'needs {always}, which is not installed'}{other}"

    @property
    def legacy(self) -> bool:
        """Whether the engine supports it only for old flows."""
        return self.raw.get("legacy") is True

    @property
    def beta(self) -> bool:
        """Whether it is marked as beta."""
        return self.raw.get("beta") is True

    @property
    def code(self) -> str:
        """The component's source."""
        return as_text(as_object(self.template.get("code")).get("value"))

    @cached_property
    def can_be_tool(self) -> bool:
        """Whether an agent can use it as a tool: a field declares tool mode, or the class opts in."""
        return can_be_tool(self.raw)

    def as_match(self, score: float) -> Match:
        """Return this type as a search result."""
        return Match(
            type=self.type,
            display_name=self.display_name,
            score=round(score, 3),
            description=self.description,
            category=self.category,
            dead_end=self.dead_end,
        )

    @cached_property
    def descriptions(self) -> dict[int | None, str]:
        """Its descriptions so far, by their budget in characters."""
        return {}

    @cached_property
    def definition(self) -> JsonObject:
        """What a new node carries as `data.node`; shared between nodes, never changed."""
        outputs: list[Json] = [
            {**_OUTPUT_DEFAULTS, **output} if isinstance(output, dict) else output
            for output in as_list(self.raw.get("outputs"))
        ]
        return {**self.raw, "outputs": outputs}
