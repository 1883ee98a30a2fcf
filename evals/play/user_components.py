"""A scenario's component types: made once for a play, saved as its user's, and recorded for scoring."""

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
    """A component type as the engine made it, as it is recorded in a journal.

    Attributes:
        raw: the definition that a node carries.
        choices: the fields and outputs that its options lead to; None if the engine could not tell.
        lacking: the packages that its code imports and the engine does not have.
    """

    model_config = ConfigDict(frozen=True)

    type: str
    raw: dict[str, JsonValue]
    choices: dict[str, JsonValue] | None = None
    lacking: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])

    @classmethod
    def of(cls, component: ComponentType) -> UserComponentType:
        """The record of a component type."""
        return cls.model_validate({name: getattr(component, name) for name in cls.model_fields})

    @property
    def component(self) -> ComponentType:
        """The component type."""
        choices = None if self.choices is None else as_object(copy_json(self.choices))
        return ComponentType(self.type, as_object(copy_json(self.raw)), choices, as_object(copy_json(self.lacking)))


@dataclass(frozen=True)
class UserComponents:
    """The result of making a scenario's components.

    Attributes:
        faults: why other components are left out.
    """

    types: tuple[UserComponentType, ...] = ()
    sources: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def with_user_components(catalogue: Catalogue, types: Iterable[UserComponentType]) -> Catalogue:
    """A catalogue with component types added; without any, the catalogue itself."""
    added = [one.component for one in types]
    return catalogue.with_components(added) if added else catalogue


async def make_user_components(sources: Sequence[str], runner: FlowRunner) -> UserComponents:
    """Make a scenario's components; the same source is made only once in a process.

    Args:
        runner: makes them in a confined process; if it cannot, each has a fault.
    """
    if not sources:
        return UserComponents()
    if not isinstance(runner, DescribesComponents):
        fault = Fault(code="no_engine", message="No engine makes components here.", fix="Play on the flow engine.")
        return UserComponents(faults=(fault,) * len(sources))
    found: Sequence[Inspection] = await asyncio.gather(*(inspect(source, runner) for source in sources))
    made = [one.component for one in found if one.component is not None]
    faults = tuple(one.errors[0] for one in found if one.component is None)
    return UserComponents(tuple(UserComponentType.of(one) for one in made), tuple(one.code for one in made), faults)


def save_user_components(sources: Sequence[str], data: Path, user: str) -> None:
    """Save a scenario's components as those of its user, broken ones too: the assistant must cope with them.

    It may block: call it in a thread.

    Raises:
        UserComponentError: a source is too long, or cannot be written.
    """
    for number, source in enumerate(sources, start=1):
        outline, faults = read_outline(source)
        named = outline is not None and not any(fault.code == "class_name" for fault in faults)
        save(data, user, outline.name if outline is not None and named else f"Broken{number}", source)
