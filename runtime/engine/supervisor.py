"""Keeps one flow engine warm: started again when it dies, and replaced when what it is made from changes."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Literal, TypeAlias

from flows.catalogue import Catalogue
from runtime.engine.environ import passed_environment
from runtime.engine.process import Engine, EngineDied
from runtime.engine.run_messages import encoded
from runtime.install.environment import InstallError, RunnerEnvironment
from runtime.install.pruning import using
from runtime.results import RunError

RunnerState: TypeAlias = Literal["new", "installing", "starting", "ready", "failed", "closed"]

INSTALL_FIX = "Repair it: wirewright runner install --repair"
START_TIMEOUT = 180.0
"""Seconds that the engine may take to import and warm up; a slow disk needs many."""
CLOSE_TIMEOUT = 10.0
RETIRE_TIMEOUT = 3600.0
"""Seconds that an engine which was replaced may go on with the runs that it has."""


class WarmEngine:
    """The engine that runs are given to. All methods belong to one loop."""

    def __init__(
        self,
        environment: RunnerEnvironment | None,
        catalogue: Catalogue | None,
        spares: int,
        private_hosts: Collection[str] = (),
    ) -> None:
        """Use `environment` and `catalogue`, or find them when they are first needed; keep `spares` processes ready.

        `private_hosts` are private addresses that flows may call.
        """
        self._private_hosts = private_hosts
        self._environment = environment
        self._given = catalogue
        self._loaded: Catalogue | None = None
        self._spares = spares
        self._state: RunnerState = "new"
        self._engine: Engine | None = None
        self._made_from: object = None
        self._folder: Path | None = None
        self._bringing_up: asyncio.Task[None] | None = None
        self._owned: set[asyncio.Task[None]] = set()
        self.failure: RunError | None = None
        self.progress = ""
        self.on_progress: Callable[[str], None] | None = None
        self.closed_ports = frozenset[int]()
        """Ports that open runs must not connect to."""

    @property
    def state(self) -> RunnerState:
        """Where it stands: `ready` means that a run starts at once."""
        if self._state == "ready" and (self._engine is None or not self._engine.alive):
            return "new"  # it died; the next run starts another
        return self._state

    @property
    def engine(self) -> Engine | None:
        """The engine, while there is one that can be spoken to."""
        return self._engine if self._engine is not None and self._engine.alive else None

    def start(self) -> None:
        """Begin to install and start the engine, unless it is there; `ready` waits for it."""
        self._bring_up()

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds until there is an engine that fits what is installed now; whether there is."""
        if self.state == "ready" and not self._outdated():
            return True
        if self.state == "closed":
            return False
        await asyncio.wait([self._bring_up()], timeout=timeout)
        return self.engine is not None

    async def catalogue(self) -> Catalogue:
        """The component types of this engine.

        Raises:
            OSError, ValueError: they cannot be read.
        """
        if self._given is not None:
            return self._given
        if self._loaded is None:
            self._loaded = await asyncio.to_thread(Catalogue.load, self._located().catalogue)
        return self._loaded

    async def aclose(self) -> None:
        """End the engine and every run. Takes a few seconds at most, and may be called more than once."""
        self._state = "closed"
        tasks = [task for task in (self._bringing_up, *self._owned) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    def own(self, work: Coroutine[None, None, None]) -> None:
        """Have some work done in a task that ends with this."""
        task = asyncio.create_task(work)
        self._owned.add(task)
        task.add_done_callback(self._owned.discard)

    def _located(self) -> RunnerEnvironment:
        if self._environment is None:
            self._environment = RunnerEnvironment.locate()
        return self._environment

    def _outdated(self) -> bool:
        """Whether the environment's lock or bundles are others than when the engine was started."""
        return self._environment is not None and self._environment.made_from() != self._made_from

    def _bring_up(self) -> asyncio.Task[None]:
        done = self._bringing_up is None or self._bringing_up.done()
        if self._bringing_up is None or (done and (self.state != "ready" or self._outdated())):
            self._bringing_up = asyncio.create_task(self._install_and_start())
        return self._bringing_up

    def _say(self, words: str) -> None:
        self.progress = words
        if self.on_progress is not None:
            self.on_progress(words)

    def _move(self, state: RunnerState) -> None:
        if self._state != "closed":
            self._state = state

    async def _install_and_start(self) -> None:
        if self._state == "closed":
            return
        old, self.failure = self.engine, None
        dead, self._engine = self._engine if old is None else None, old
        try:
            if dead is not None:
                await dead.kill()
            environment = (await asyncio.to_thread(self._located)).current()
            made_from = environment.made_from()
            if old is not None and environment.digest == self._located().digest:
                self._made_from = made_from  # touched, and still the same
                return
            engine = await self._installed_and_launched(environment)
        except InstallError as error:
            self._fail(old, RunError(code="crash", message=error.message, fix=error.fix))
        except EngineDied as error:
            message = f"The flow engine does not start: {error}."
            self._fail(old, RunError(code="crash", message=message, fix=INSTALL_FIX))
        except OSError:
            message = "The flow engine could not be started: the system refused a file or a process."
            self._fail(old, RunError(code="crash", message=message, fix="Check the disk and its permissions."))
        else:
            self._environment, self._made_from, self._engine, self._loaded = environment, made_from, engine, None
            self._move("ready")
            self._say("The flow engine is ready")
            if old is not None:
                self.own(self._retire(old))

    async def _installed_and_launched(self, environment: RunnerEnvironment) -> Engine:
        self._move("installing")
        await environment.install(self._say)
        try:
            return await self._launch(environment)
        except EngineDied:
            # What was installed may be damaged: once more, from the start.
            self._move("installing")
            self._say("The flow engine did not start; repairing it")
            await environment.install(self._say, repair=True)
            return await self._launch(environment)

    def _fail(self, old: Engine | None, error: RunError) -> None:
        """Nothing new came up: go on with the engine that there is, until what it is made from changes again."""
        if old is not None and old.alive and self._environment is not None:
            self._made_from = self._environment.made_from()
            self._move("ready")
            self._say(f"The flow engine stays as it was: {error.message}")
            return
        self.failure = error
        self._move("failed")

    async def _launch(self, environment: RunnerEnvironment) -> Engine:
        self._move("starting")
        self._say("Starting the flow engine")
        if self._folder is None:
            # In this thread: a cancelled `to_thread` would make the folder all the same, and nobody would remove it.
            self._folder = Path(tempfile.mkdtemp(prefix="wirewright-"))
        engine, _ = await Engine.start(
            serving(environment, self._folder / uuid.uuid4().hex[:8], self._spares, self.closed_ports),
            passed_environment(self._folder, self._private_hosts),
            self._folder,
            limit=START_TIMEOUT,
            holding=using(environment.folder),
        )
        return engine

    async def _retire(self, engine: Engine) -> None:
        """Let an engine that was replaced end the runs it has, then end it."""
        try:
            await engine.idle(RETIRE_TIMEOUT)
        finally:
            with contextlib.suppress(EngineDied):
                await engine.close()


async def starts(environment: RunnerEnvironment) -> None:
    """Start an engine of this environment and end it again.

    Raises:
        InstallError: it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="wirewright-") as folder:
        command = serving(environment, Path(folder) / "runs", 1)
        try:
            engine, _ = await Engine.start(command, passed_environment(Path(folder)), Path(folder), limit=START_TIMEOUT)
        except EngineDied as error:
            message = f"The flow engine does not start with these bundles: {error}."
            raise InstallError(message, "Try another version, or fewer of them.") from None
        try:
            warm = engine.expect("warm")
            engine.send(encoded({"id": "warm", "type": "warm"}))
            async with asyncio.timeout(START_TIMEOUT):
                await warm
        except (EngineDied, TimeoutError):
            message = "The flow engine cannot call models with these bundles."
            raise InstallError(message, "Try another version, or fewer of them.") from None
        finally:
            await engine.close()


def serving(environment: RunnerEnvironment, runs: Path, spares: int, closed: Collection[int] = ()) -> list[str]:
    """The command that starts an engine which keeps its runs' folders in `runs` and expects to close these ports."""
    command = [str(environment.python), "-I", "-X", "utf8", str(environment.main), "serve", str(runs), str(spares)]
    return [*command, *map(str, sorted(closed))]
