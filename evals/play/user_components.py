"""A scenario's own component types: made once for a play, kept as its user keeps them, and recorded for scoring."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.faults import Fault
from flows.json_values import as_object, copy_json
from runtime.components.inspection import DescribesComponents, Inspection, inspect
from runtime.components.rules import read_outline
from runtime.components.store import save
from tools.workbench import FlowRunner


class UserComponentType(BaseModel):
    """A component type as the engine made it, in a form that a journal can hold.

    Attributes:
        raw: the definition that a node carries.
        choices: what its options make of its fields and outputs; None when the engine could not say.
        lacking: the packages that its code imports and the engine does not have.
    """

    model_config = ConfigDict(frozen=True)

    type: str
    raw: dict[str, JsonValue]
    choices: dict[str, JsonValue] | None = None
    lacking: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])

    @classmethod
    def of(cls, component: ComponentType) -> UserComponentType:
        """How a component type is recorded."""
        return cls.model_validate(
            {
                "type": component.type,
                "raw": component.raw,
                "choices": component.choices,
                "lacking": component.lacking,
            }
        )

    @property
    def component(self) -> ComponentType:
        """The component type."""
        choices = None if self.choices is None else as_object(copy_json(self.choices))
        return ComponentType(self.type, as_object(copy_json(self.raw)), choices, as_object(copy_json(self.lacking)))


@dataclass(frozen=True)
class UserComponents:
    """What became of a scenario's component sources.

    Attributes:
        faults: why the others are left out.
    """

    types: tuple[UserComponentType, ...] = ()
    sources: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def with_user_components(catalogue: Catalogue, types: Iterable[UserComponentType]) -> Catalogue:
    """A catalogue with own component types beside the built-in ones; without any, the catalogue itself."""
    own = [one.component for one in types]
    return catalogue.with_components(own) if own else catalogue


async def make_user_components(sources: Sequence[str], runner: FlowRunner) -> UserComponents:
    """Make a scenario's components; the same source is made only once in a process.

    Args:
        runner: makes them in a confined process; one that cannot makes none, which is a fault of each.
    """
    if not sources:
        return UserComponents()
    if not isinstance(runner, DescribesComponents):
        return UserComponents(
            faults=tuple(
                Fault(code="no_engine", message="No engine makes components here.", fix="Play on the flow engine.")
                for _ in sources
            )
        )
    found: Sequence[Inspection] = await asyncio.gather(*(inspect(source, runner) for source in sources))
    made = [one.component for one in found if one.component is not None]
    faults = tuple(one.errors[0] for one in found if one.component is None)
    return UserComponents(tuple(UserComponentType.of(one) for one in made), tuple(one.code for one in made), faults)


def save_user_components(sources: Sequence[str], data: Path, user: str) -> None:
    """Keep a scenario's components as those of its user, broken ones too: the assistant must get along with them.

    It may block: call it in a thread.

    Raises:
        UserComponentError: a source is too long, or the disk refuses.
    """
    for number, source in enumerate(sources, start=1):
        outline, faults = read_outline(source)
        named = outline is not None and not any(fault.code == "class_name" for fault in faults)
        save(data, user, outline.name if outline is not None and named else f"Broken{number}", source)
