"""An engine that is replaced when what it is made from changes, on a stand-in for the engine's process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.engine import process, queue
from runtime.files.lock import FileLock
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from runtime.results import BUSY
from runtime.runner import Runner
from tests.processes.ends import alive
from tests.runtime.conftest import FakeEnvironment
from tests.runtime.unguarded import run_unguarded

Fake = Callable[[str], FakeEnvironment]
pytestmark = pytest.mark.anyio
EMPTY = Flow.empty()
ANSWER = 'say(HELLO)\nfor request in requests():\n    if request["type"] == "run": result(request, str(os.getpid()))\n'
SLOW = """
say(HELLO)
for request in requests():
    if request["type"] == "run" and request["text"] == "slow":
        started(request)
    elif request["type"] == "run":
        result(request, str(os.getpid()))
    elif request["type"] == "shutdown":
        break
"""


@dataclass
class Files:
    """What decides on the environment, and what happens when another one is installed."""

    version: int = 1
    failure: InstallError | None = None
    located: list[int] = field(default_factory=list[int])
    installed: int = 0


@dataclass(frozen=True)
class Changing(FakeEnvironment):
    """An environment that changes when the test says so."""

    files: Files = field(default_factory=Files)

    def inputs(self) -> tuple[tuple[int, int, int] | None, ...]:
        return ((self.files.version, 0, 0),)

    def current(self) -> RunnerEnvironment:
        self.files.located.append(self.files.version)
        return replace(self, digest=f"v{self.files.version}")

    async def install(self, progress: Callable[[str], None] | None = None, *, repair: bool = False) -> None:
        self.files.installed += 1
        if self.files.failure is not None and self.files.version > 1:
            raise self.files.failure


@asynccontextmanager
async def opened(fake: FakeEnvironment, files: Files, **options: int) -> AsyncIterator[Runner]:
    environment = Changing(
        source=fake.source, cache=fake.cache, digest="v1", script=fake.script, repairs=(), files=files
    )
    async with Runner(environment, catalogue=Catalogue({}), **options) as made:
        yield made


async def test_the_next_run_has_a_new_engine_when_the_lock_or_the_bundles_change(fake: Fake) -> None:
    files = Files()
    async with opened(fake(ANSWER), files) as made:
        first = (await made.run(EMPTY, "x")).output
        assert (await made.run(EMPTY, "x")).output == first
        files.version = 2
        second = (await made.run(EMPTY, "x")).output
        assert second not in {None, first}
        assert (await made.run(EMPTY, "x")).output == second


async def test_runs_of_the_old_engine_go_on_and_it_ends_after_them(fake: Fake) -> None:
    files = Files()
    async with opened(fake(SLOW), files) as made:
        assert await made.ready(30)
        old = made.engine_pid
        assert old is not None
        begun = asyncio.Event()
        slow = asyncio.create_task(run_unguarded(made, {}, "slow", timeout=600, on_started=lambda _: begun.set()))
        await begun.wait()
        files.version = 2
        assert (await made.run(EMPTY, "x")).output == str(made.engine_pid)
        assert made.engine_pid != old
        assert alive(old)
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
    assert not alive(old)


async def test_an_old_engine_that_does_not_end_when_it_is_asked_has_ended_when_the_runner_is_closed(fake: Fake) -> None:
    files = Files()
    async with opened(fake(f"{ANSWER}\ntime.sleep(600)"), files) as made:
        old = (await made.run(EMPTY, "x")).output
        files.version = 2
        assert (await made.run(EMPTY, "x")).output != old  # the old one is waited for since then
        assert old is not None
        assert alive(int(old))
    assert not alive(int(old))


async def test_the_old_engine_serves_on_when_the_new_one_cannot_be_installed(fake: Fake) -> None:
    files = Files(failure=InstallError("The disk is full.", "Free some."))
    async with opened(fake(ANSWER), files) as made:
        first = (await made.run(EMPTY, "x")).output
        files.version = 2
        assert (await made.run(EMPTY, "x")).output == first
        assert made.state == "ready"
        assert "The disk is full." in made.progress
        tries = len(files.located)
        assert (await made.run(EMPTY, "x")).output == first
        assert len(files.located) == tries  # not tried again before something changes


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  (what it waits for has no event)
            await asyncio.sleep(0.01)


async def test_the_installation_is_tried_again_until_it_works_when_the_network_was_missing(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.supervisor.RETRY_PAUSES", (0.02, 0.04))
    failure = InstallError("The packages cannot be downloaded.", "Check the network.", temporary=True)
    files = Files(version=2, failure=failure)
    async with opened(fake(ANSWER), files) as made:
        await until(lambda: files.installed >= 4)
        assert made.failure is None or made.failure.message == "The packages cannot be downloaded."
        assert (await made.run(EMPTY, "x")).error is not None
        files.failure = None
        await until(lambda: made.state == "ready")
        assert (await made.run(EMPTY, "x")).output is not None


async def test_the_installation_is_not_tried_again_when_it_failed_for_another_reason(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.supervisor.RETRY_PAUSES", (0.0,))
    files = Files(version=2, failure=InstallError("The disk is full.", "Free some."))
    said: list[str] = []
    async with opened(fake(ANSWER), files) as made:
        made.on_progress = said.append
        await until(lambda: made.state == "failed")
        await asyncio.sleep(0.1)
        assert (files.installed, made.state) == (1, "failed")
    assert said[-1] == "Flows cannot be run: The disk is full. Free some."


async def test_a_file_that_was_only_touched_changes_nothing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files()
    monkeypatch.setattr(Changing, "current", lambda self: replace(self, digest="v1"))
    async with opened(fake(ANSWER), files) as made:
        first = (await made.run(EMPTY, "x")).output
        files.version = 2
        assert (await made.run(EMPTY, "x")).output == first


async def test_callers_beyond_the_queue_learn_that_it_is_busy_even_while_the_engine_starts(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 2)
    async with opened(fake(ANSWER), Files(), concurrency=1) as made:
        results = await asyncio.gather(*(made.run(EMPTY, str(n)) for n in range(8)))
        busy = [result for result in results if result.busy]
        assert [result.error for result in busy] == [BUSY] * 5
        assert len([result for result in results if result.ok]) == 3
        assert (await made.run(EMPTY, "later")).ok


async def test_a_run_is_ended_from_here_when_the_engine_does_not_end_it(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "KILL_TIMEOUT", 0.05)
    body = """
import subprocess
LIVE = "import os, time\\nparent = os.getppid()\\nwhile os.getppid() == parent: time.sleep(0.02)"
child = subprocess.Popen([sys.executable, "-c", LIVE], start_new_session=True)
PID = child.pid
say(HELLO)
for request in requests():
    if request["type"] == "run":
        started(request)
        code = child.wait()  # deaf to everything else meanwhile, like an engine that is busy
        end(request["id"], code)
"""
    async with opened(fake(body), Files(), concurrency=1) as made:
        assert await made.ready(30)
        engine = made.engine_pid
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(run_unguarded(made, {}, "x", timeout=600, on_started=begun.set_result))
        pid = await begun
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = asyncio.create_task(run_unguarded(made, {}, "y", timeout=0.01))
        await asyncio.wait([again])  # the only place is free again once the first run is over
        assert not alive(pid)
        assert made.engine_pid == engine


async def test_an_engine_marks_its_environment_as_used_as_long_as_it_lives(fake: Fake) -> None:
    environment = fake(ANSWER)
    environment.folder.mkdir(parents=True)
    mark = FileLock(environment.folder / "in-use")
    async with Runner(environment, catalogue=Catalogue({})) as made:
        assert await made.ready()
        assert not mark.try_acquire()
    assert mark.try_acquire()
    mark.release()
