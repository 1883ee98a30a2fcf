"""Bundles that are added while an engine runs, on a stand-in for the engine's process."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from flows.document import Flow, JsonObject
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from runtime.runner import Runner
from tests.runtime.conftest import FakeEnvironment

Fake = Callable[[str], FakeEnvironment]
pytestmark = pytest.mark.anyio
ANSWER = 'say(HELLO)\nfor request in requests():\n    if request["type"] == "run": result(request, str(os.getpid()))\n'


@dataclass
class Chosen:
    """The bundles that are chosen, and why the next change fails."""

    bundles: tuple[str, ...] = ()
    failure: InstallError | None = None
    changing: int = 0


@dataclass(frozen=True)
class Growing(FakeEnvironment):
    """An environment that takes any bundle, each with a component type of its name."""

    chosen: Chosen = field(default_factory=Chosen)

    def inputs(self) -> tuple[tuple[int, int, int] | None, ...]:
        return ((len(self.chosen.bundles), 0, 0),)

    def current(self) -> RunnerEnvironment:
        return replace(self, bundles=self.chosen.bundles, digest="-".join(("v", *self.chosen.bundles)))

    @property
    def catalogue_current(self) -> bool:
        return True

    async def change_bundles(
        self,
        added: Sequence[str] = (),
        removed: Sequence[str] = (),
        *,
        progress: Callable[[str], None] | None = None,
        check: Callable[[RunnerEnvironment], Awaitable[None]] | None = None,
    ) -> RunnerEnvironment:
        assert check is not None, "an environment is tried before it is chosen"
        self.chosen.changing += 1
        assert self.chosen.changing == 1, "two change the bundles at once"
        await asyncio.sleep(0.05)
        self.chosen.changing -= 1
        if self.chosen.failure is not None:
            raise self.chosen.failure
        self.chosen.bundles = (*self.bundles, *added)
        types: dict[str, JsonObject] = {
            name: {"display_name": name, "template": {}, "outputs": []} for name in self.chosen.bundles
        }
        self.catalogue.write_text(json.dumps({"format": 1, "components": types}))
        return self.current()


@asynccontextmanager
async def opened(fake: FakeEnvironment, chosen: Chosen) -> AsyncGenerator[Runner]:
    environment = Growing(source=fake.source, cache=fake.cache, digest="v", script=fake.script, chosen=chosen)
    environment.catalogue.write_text(json.dumps({"format": 1, "components": {}}))
    async with Runner(environment) as made:
        assert await made.ready(30)
        yield made


async def test_the_runner_goes_on_with_an_engine_that_has_the_bundle(fake: Fake) -> None:
    async with opened(fake(ANSWER), Chosen()) as made:
        before, said = (await made.run(Flow.empty(), "x")).output, list[str]()
        catalogue = await made.add_bundles(["lfx-slack"], said.append)
        assert [one.type for one in catalogue] == ["lfx-slack"]
        assert said[-1] == "Starting the flow engine"
        after = (await made.run(Flow.empty(), "x")).output
        assert after == str(made.engine_pid)
        assert after != before


async def test_both_bundles_are_there_when_two_are_added_at_once(fake: Fake) -> None:
    chosen = Chosen()
    async with opened(fake(ANSWER), chosen) as made:
        await asyncio.gather(made.add_bundles(["lfx-a"], print), made.add_bundles(["lfx-b"], print))
    assert sorted(chosen.bundles) == ["lfx-a", "lfx-b"]


async def test_the_same_engine_goes_on_when_the_bundle_cannot_be_installed(fake: Fake) -> None:
    chosen = Chosen(failure=InstallError("They cannot be downloaded.", "Check the network."))
    async with opened(fake(ANSWER), chosen) as made:
        before = (await made.run(Flow.empty(), "x")).output
        with pytest.raises(InstallError, match="cannot be downloaded"):
            await made.add_bundles(["lfx-slack"], print)
        assert (await made.run(Flow.empty(), "x")).output == before
        chosen.failure = None
        assert len(await made.add_bundles(["lfx-slack"], print)) == 1, "and it can be tried again"
