"""Keeps one flow engine running: restarts it when it dies, replaces it when its lock or its bundles change."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextvars import Context
from pathlib import Path
from typing import Literal, TypeAlias

from flows.catalogue import Catalogue
from runtime.engine.confinement import CANNOT_FORK, ConfinementRule, can_fork
from runtime.engine.environment_variables import engine_environment
from runtime.engine.isolation import refusal_of_machine
from runtime.engine.process import Engine, EngineDied
from runtime.engine.spares import Spares
from runtime.files.lock import FileLock
from runtime.install.environment import LOCK_TIMEOUT, RunnerEnvironment
from runtime.install.errors import InstallError
from runtime.install.pruning import mark_in_use
from runtime.results import ENGINE_CLOSED, RunError, RunFailed

RunnerState: TypeAlias = Literal["new", "installing", "starting", "ready", "failed", "closed"]

INSTALL_FIX = "Repair it: wirewright runner install --repair"
START_TIMEOUT = 180.0
"""Seconds that the engine may take to import and warm up, which is slow on a slow disk."""
CLOSE_TIMEOUT = 10.0
RETRY_PAUSES = (10.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds before an installation that failed for want of a network is tried again; the last for all that follow."""
RETIRE_TIMEOUT = 3600.0
"""Seconds that a replaced engine has to finish its runs."""


class EngineSupervisor:
    """The engine that runs are sent to. All methods belong to one event loop."""

    def __init__(
        self,
        environment: RunnerEnvironment | None,
        catalogue: Catalogue | None,
        spares: int,
        private_hosts: Collection[str] = (),
        *,
        confinement: ConfinementRule = "required",
    ) -> None:
        """Start nothing yet.

        Args:
            environment: the engine's environment; None finds it when it is first needed.
            catalogue: the component types; None reads those that the engine exported.
            spares: how many processes are kept ready for the next runs.
            private_hosts: private addresses that flows may call.
            confinement: whether there is an engine on a machine that lacks what confines runs.
        """
        self._private_hosts = private_hosts
        self._confinement: ConfinementRule = confinement
        self._refused: RunError | None = None if can_fork() else CANNOT_FORK
        """Why no flow will ever run on this machine."""
        self._environment = environment
        self._given_catalogue = catalogue
        self._exported: tuple[object, Catalogue] | None = None
        """What the catalogue was exported from, and the catalogue."""
        self._spares = spares
        self._state: RunnerState = "new"
        self._engine: Engine | None = None
        self._waiting: Spares | None = None
        self._started_from: object = None
        self._folder: Path | None = None
        self._starting: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._retry: asyncio.Task[None] | None = None
        self._failures = 0
        self.failure: RunError | None = None
        self.progress = ""
        self.on_progress: Callable[[str], None] | None = None

    @property
    def state(self) -> RunnerState:
        """The state; with `ready` a run starts at once."""
        if self._state == "ready" and (self._engine is None or not self._engine.alive):
            return "new"  # it died; the next run starts another
        return self._state

    @property
    def engine(self) -> Engine | None:
        """The engine, while one is running."""
        return self._engine if self._engine is not None and self._engine.alive else None

    def start(self) -> asyncio.Task[None]:
        """Start installing and starting the engine, unless a current one runs; `ready` waits for it."""
        done = self._starting is None or self._starting.done()
        if self._starting is None or (done and (self.state != "ready" or self._outdated(self._started_from))):
            # In a context of its own: what it logs belongs to no request, although one may have started it.
            self._starting = asyncio.create_task(self._install_and_start(), context=Context())
        return self._starting

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds until an engine of the current installation runs; returns whether one does."""
        if self.state == "ready" and not self._outdated(self._started_from):
            return True
        if self.state == "closed":
            return False
        await asyncio.wait([self.start()], timeout=timeout)
        return self.engine is not None

    async def running(self) -> Spares:
        """Wait until an engine of the current installation runs, and return its processes that wait for runs.

        Raises:
            RunFailed: it cannot be installed or started, or this is closed.
        """
        await self.ready()
        if self.engine is None or self._waiting is None:
            raise RunFailed(self.failure or ENGINE_CLOSED)
        return self._waiting

    async def catalogue(self) -> Catalogue:
        """The component types; waits for the engine only if the current installation has not exported them yet.

        Raises:
            RunFailed: the engine cannot be installed or started, or they cannot be read.
        """
        if self._given_catalogue is not None:
            return self._given_catalogue
        if self._exported is None or self._outdated(self._exported[0]):
            try:
                current = await asyncio.to_thread(lambda: self._located().current().catalogue_current)
            except InstallError:
                current = False
            if not current:
                await self.running()
            environment = self._located()
            inputs = environment.inputs()
            try:
                self._exported = inputs, await asyncio.to_thread(Catalogue.load, environment.catalogue)
            except (OSError, ValueError):
                message = "The component catalogue is missing."
                raise RunFailed(RunError(code="crash", message=message, fix=INSTALL_FIX)) from None
        return self._exported[1]

    async def add_bundles(self, requirements: Sequence[str], progress: Callable[[str], None]) -> Catalogue:
        """Install bundles into a new environment, start its engine in place of the old one, and return its types.

        Runs go on, and if anything fails, so does the old engine. Only one process changes the bundles at a time.

        Args:
            requirements: what is installed.
            progress: called with messages for the user.

        Raises:
            InstallError: it cannot be installed, or does not work.
            RunFailed: the types cannot be read.
        """
        environment = await asyncio.to_thread(self._located)
        lock = FileLock(environment.cache / "runner" / "bundles.lock")
        try:
            if not await lock.acquire(LOCK_TIMEOUT, lambda: progress("Waiting for another installation to finish")):
                raise InstallError("Timed out waiting for another installation.", "Stop it, then try again.")
            new = await environment.current().change_bundles(requirements, progress=progress, check=check_starts)
            self._given_catalogue = None
            progress("Starting the flow engine")
            await self.running()
            if self._located().digest != new.digest:
                raise InstallError("The flow engine does not start with these bundles.", "Try another version.")
            return await self.catalogue()
        except OSError as error:
            raise InstallError.not_writable(error) from None
        finally:
            lock.release()

    async def aclose(self) -> None:
        """End the engine and every run. Takes a few seconds at most, and may be called more than once."""
        self._state = "closed"
        tasks = [task for task in (self._starting, *self._background) if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        engine, self._engine = self._engine, None
        if self._waiting is not None:
            self._waiting.close()
        if engine is not None:
            await engine.close()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    def staging_folder(self) -> Path:
        """A path for the files of one run, on the disk that the engine moves them on; nothing is there yet.

        Raises:
            RunFailed: no engine was started.
        """
        if self._folder is None:
            raise RunFailed(ENGINE_CLOSED)
        return self._folder / f"staged-{uuid.uuid4().hex}"

    def run_in_background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run a coroutine in a task that ends with this; returns the task."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _located(self) -> RunnerEnvironment:
        if self._environment is None:
            self._environment = RunnerEnvironment.locate()
        return self._environment

    def _outdated(self, inputs: object) -> bool:
        """Whether the environment's lock or bundles have changed since they were `inputs`."""
        return self._environment is not None and self._environment.inputs() != inputs

    def _report(self, message: str) -> None:
        self.progress = message
        if self.on_progress is not None:
            self.on_progress(message)

    def _set_state(self, state: RunnerState) -> None:
        if self._state != "closed":
            self._state = state

    async def _install_and_start(self) -> None:
        if self._state == "closed":
            return
        old, self.failure = self.engine, None
        dead, self._engine = self._engine if old is None else None, old
        if self._refused is not None:
            self._fail(old, self._refused)
            return
        try:
            if dead is not None:
                await dead.kill()
            environment = (await asyncio.to_thread(self._located)).current()
            inputs = environment.inputs()
            if old is not None and environment.digest == self._located().digest:
                self._started_from = inputs  # the files were touched, not changed
                return
            engine = await self._installed_and_launched(environment)
        except InstallError as error:
            self._fail(old, RunError(code="crash", message=error.message, fix=error.fix))
            if error.temporary and self.state == "failed":
                self._try_again()
        except (EngineDied, RunFailed) as error:
            self._fail(old, self._explained(error))
        except OSError:
            message = "The flow engine could not be started: the system refused a file or a process."
            self._fail(old, RunError(code="crash", message=message, fix="Check the disk and its permissions."))
        else:
            retired, self._waiting = self._waiting, Spares(engine, self._spares)
            self._environment, self._started_from, self._engine = environment, inputs, engine
            if retired is not None:
                retired.close()
            self._set_state("ready")
            self._failures = 0
            self._report("The flow engine is ready")
            if old is not None:
                self.run_in_background(self._retire(old))

    def _explained(self, error: EngineDied | RunFailed) -> RunError:
        """Why the engine does not run; a machine that was refused is refused for good."""
        if isinstance(error, RunFailed):
            self._refused = error.error
            return error.error
        return RunError(code="crash", message=f"The flow engine does not start: {error}.", fix=INSTALL_FIX)

    async def _installed_and_launched(self, environment: RunnerEnvironment) -> Engine:
        self._set_state("installing")
        if not await asyncio.to_thread(lambda: environment.installed):
            # before a download for nothing
            self._check(await asyncio.to_thread(refusal_of_machine, environment.source, self._confinement))
        await environment.install(self._report)
        try:
            return await self._launch(environment)
        except EngineDied:
            # The installation may be damaged: repeat it.
            self._set_state("installing")
            self._report("The flow engine did not start; repairing it")
            await environment.install(self._report, repair=True)
            return await self._launch(environment)

    def _fail(self, old: Engine | None, error: RunError) -> None:
        """Keep the old engine, if it still runs, until the lock or the bundles change again; else fail."""
        if old is not None and old.alive and self._environment is not None:
            self._started_from = self._environment.inputs()
            self._set_state("ready")
            self._report(f"The flow engine was not replaced: {error.message}")
            return
        self.failure = error
        self._set_state("failed")
        self._report(f"Flows cannot be run: {error.message} {error.fix}")

    def _try_again(self) -> None:
        """Install again after a pause, which grows with every failure; a run that needs the engine does not wait."""
        if self._retry is None or self._retry.done():
            pause = RETRY_PAUSES[min(self._failures, len(RETRY_PAUSES) - 1)]
            self._failures += 1
            self._retry = self.run_in_background(self._started_after(pause))

    async def _started_after(self, pause: float) -> None:
        await asyncio.sleep(pause)
        self._retry = None  # so that the next failure is followed by another
        if self.state == "failed":
            await asyncio.wait([self.start()])

    async def _launch(self, environment: RunnerEnvironment) -> Engine:
        self._set_state("starting")
        self._report("Starting the flow engine")
        if self._folder is None:
            # Not in a thread: when `to_thread` is cancelled, the folder is created all the same and never removed.
            self._folder = Path(tempfile.mkdtemp(prefix="wirewright-"))
        engine = await Engine.start(
            serve_command(environment, self._folder / uuid.uuid4().hex[:8]),
            engine_environment(self._folder, self._private_hosts),
            self._folder,
            limit=START_TIMEOUT,
            lock=mark_in_use(environment.folder),
        )
        try:
            self._check(engine.confinement.refusal(self._confinement))
        except RunFailed:
            await engine.kill()
            raise
        return engine

    @staticmethod
    def _check(refusal: RunError | None) -> None:
        """Raise RunFailed with the reason why no flow runs on this machine, if there is one."""
        if refusal is not None:
            raise RunFailed(refusal)

    async def _retire(self, engine: Engine) -> None:
        """Wait until a replaced engine has finished its runs, then end it."""
        try:
            await engine.idle(RETIRE_TIMEOUT)
        finally:
            with contextlib.suppress(EngineDied):
                await engine.close()


async def check_starts(environment: RunnerEnvironment) -> None:
    """Check that an engine of this environment starts and can call models.

    Raises:
        InstallError: it cannot.
    """
    with tempfile.TemporaryDirectory(prefix="wirewright-") as folder:
        command = serve_command(environment, Path(folder) / "runs")
        try:
            engine = await Engine.start(command, engine_environment(Path(folder)), Path(folder), limit=START_TIMEOUT)
        except EngineDied as error:
            message = f"The flow engine does not start with these bundles: {error}."
            raise InstallError(message, "Try another version, or fewer of them.") from None
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await engine.warming(engine.warm_ups)
        except (EngineDied, TimeoutError):
            message = "The flow engine cannot call models with these bundles."
            raise InstallError(message, "Try another version, or fewer of them.") from None
        finally:
            await engine.close()


def serve_command(environment: RunnerEnvironment, runs: Path) -> list[str]:
    """The command that starts the engine of an environment, with the private folders of its runs in `runs`."""
    return [str(environment.python), "-I", "-X", "utf8", str(environment.main), "serve", str(runs)]
