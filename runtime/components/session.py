"""Where one user's components are made and kept, for as long as a turn lasts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.faults import Fault
from runtime.components.inspection import DescribesComponents, Inspection, inspect
from runtime.components.store import Loaded, UserComponentError, load, save


@dataclass(frozen=True)
class Workshop:
    """Makes a user's components, and keeps them.

    Attributes:
        data: the folder in which everything is kept.
        user: whose components; anonymous users have none and keep none.
        runner: makes them.
        given: sources of components that a flow brings along, for this turn alone.
    """

    data: Path
    user: str | None
    runner: DescribesComponents
    given: tuple[str, ...] = ()

    async def make(self, source: str) -> Inspection:
        """The component that a source makes, or why it makes none."""
        return await inspect(source, self.runner)

    async def keep(self, component: ComponentType) -> UserComponentError | None:
        """Keep a component for the user's later turns; None, or why it is not kept: its use now does not depend on it.

        Raises:
            UserComponentError: the disk refuses, which someone should hear of.
        """
        try:
            await asyncio.to_thread(save, self.data, self.user, component.type, component.code)
        except UserComponentError as refusal:
            if refusal.reason == "not_written":
                raise
            return refusal
        return None

    async def load(self) -> Loaded:
        """The components that the user has kept."""
        return await load(self.data, self.user, self.runner)

    async def catalogue(self, built_in: Catalogue) -> tuple[Catalogue, tuple[Fault, ...]]:
        """The built-in components with the user's own, and those of the flow, beside them; and the flow's faults.

        The user's own that are broken are left out: the others work all the same.
        """
        kept = (await self.load()).components
        given = [await self.make(source) for source in self.given]
        faults = tuple(fault for found in given for fault in found.errors)
        own = [*kept, *(found.component for found in given if found.component is not None)]
        return (built_in.with_components(own) if own else built_in), faults
