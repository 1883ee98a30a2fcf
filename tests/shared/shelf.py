"""A bundle of one component type that is not installed, and a stand-in engine that can be given it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flows.bundles import Bundle, BundleIndex
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from runtime.install.errors import InstallError
from tests.shared.stand_ins import StandInRunner

AWAY = "ext:shelf:ShoutComponent@official"
SPEC = f"""name: Loud
nodes:
  chat: ChatInput
  shout: {AWAY}
  answer: ChatOutput
edges:
  chat.message -> shout.data_inputs
  shout.dataframe -> answer.input_value"""


@dataclass(eq=False)
class Shelf(StandInRunner):
    """A stand-in engine that can be given the bundle `shelf`.

    Attributes:
        whole: the types with it.
        error: why it cannot be installed.
        hangs_installing: whether installing never ends.
        installed: what was asked for.
        stopped: set when an installation that hangs was cancelled.
    """

    whole: Catalogue | None = None
    error: InstallError | None = None
    hangs_installing: bool = False
    installed: list[list[str]] = field(default_factory=list[list[str]])
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def add_bundles(self, requirements: Sequence[str], progress: Callable[[str], None]) -> Catalogue:
        """Install at once, fail, or hang."""
        self.installed.append(list(requirements))
        progress("Resolving lfx-shelf")
        if self.hangs_installing:
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()
        if self.error is not None:
            raise self.error
        assert self.whole is not None
        return self.whole


def shout(catalogue: Catalogue) -> ComponentType:
    """A type like Split Text under another name."""
    split = catalogue.get("SplitText")
    assert split is not None
    return ComponentType(AWAY, {**split.raw, "display_name": "Shout"})


def index_of(catalogue: Catalogue) -> BundleIndex:
    """An index in which Shout comes with the bundle `shelf`."""
    bundle = Bundle(name="shelf", requirement="lfx-shelf", size_mb=7.2)
    return BundleIndex({AWAY: bundle}, Catalogue({AWAY: shout(catalogue)}))


def shelf_of(catalogue: Catalogue, **others: object) -> Shelf:
    """A stand-in engine that can be given Shout; the keywords are its fields."""
    whole = Catalogue({one.type: one for one in (*catalogue, shout(catalogue))}, version=catalogue.version)
    return Shelf(whole=whole, **others)  # pyright: ignore[reportArgumentType]  (the fields of Shelf)
