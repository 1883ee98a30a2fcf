"""Runs flows on the real engine: each in a process of its own, bounded in time, its outcome always a value."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Literal, Self, TypeAlias

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from runtime.answers import CLOSED, SHRINK, encoded, ended, failed, result_of
from runtime.engine import Engine, EngineDied
from runtime.environment import passed_environment
from runtime.guard import refuse, runnable
from runtime.provision import InstallError, RunnerEnvironment
from runtime.results import RunError, RunResult

RunnerState: TypeAlias = Literal["new", "installing", "starting", "ready", "failed", "closed"]

Network: TypeAlias = Literal["gateway-only", "open"]
"""What a run may reach: the model gateway alone (nothing, until there is one), or whatever this machine can."""

INSTALL_FIX = "Repair it: wirewright runner install --repair"
START_TIMEOUT = 180.0
"""Seconds that the engine may take to import and warm up; a slow disk needs many."""
GRACE = 5.0
"""Seconds after a run's own time limit by which the engine must have said so itself."""
CANCEL_TIMEOUT = 2.0
CLOSE_TIMEOUT = 10.0
MAX_WAITING = 64
"""Runs that may wait for a free place; one more is refused as busy."""


class Runner:
    """Runs flows; installs and starts the engine when it is first needed, and again when it dies.

    An async context manager: entering begins the installation and start without waiting for them (`ready` waits),
    leaving ends every run.
    """

    def __init__(
        self, environment: RunnerEnvironment | None = None, *, catalogue: Catalogue | None = None, concurrency: int = 2
    ) -> None:
        """Use `environment` (default: the one of this installation), at most `concurrency` runs at the same time.

        `catalogue` is what flows are checked against before they run (default: the one that the engine exported).
        """
        self._environment = environment
        self._catalogue = catalogue
        self._places = asyncio.Semaphore(concurrency)
        self._waiting = 0
        self._state: RunnerState = "new"
        self._engine: Engine | None = None
        self._folder: Path | None = None
        self._bringing_up: asyncio.Task[None] | None = None
        self._owned: set[asyncio.Task[None]] = set()
        self._failure: RunError | None = None
        self.progress = ""
        self.on_progress: Callable[[str], None] | None = None
        """Called with each message about installing and starting, in words for the person who waits."""

    @property
    def state(self) -> RunnerState:
        """Where it stands: `ready` means that a run starts at once."""
        if self._state == "ready" and (self._engine is None or not self._engine.alive):
            return "new"  # it died; the next run starts another
        return self._state

    @property
    def failure(self) -> RunError | None:
        """Why the engine could not be installed or started, while the state is `failed`."""
        return self._failure

    @property
    def engine_pid(self) -> int | None:
        """The process id of the engine, while there is one."""
        return self._engine.pid if self._engine is not None and self._engine.alive else None

    async def start(self) -> None:
        """Begin to install and start the engine, unless it is there; `ready` waits for it."""
        self._bring_up()

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds (default: as long as it takes) until it can run flows; whether it can."""
        if self.state == "ready":
            return True
        if self.state == "closed":
            return False
        await asyncio.wait([self._bring_up()], timeout=timeout)
        return self.engine_pid is not None

    async def aclose(self) -> None:
        """End every run and the engine. Takes a few seconds at most, and may be called more than once."""
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

    async def __aenter__(self) -> Self:
        """Begin to install and start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every run and the engine."""
        await self.aclose()

    async def run(
        self,
        flow: Flow,
        text: str | None = None,
        *,
        timeout: float = 60.0,
        session: str | None = None,
        want_nodes: bool = False,
        network: Network = "open",
    ) -> RunResult:
        """Run `flow` with `text` as its input, for at most `timeout` seconds, and give its outcome.

        `text` goes to the chat inputs, or else the text inputs, or else the webhooks; None leaves what they hold.
        `session` is the session id that the flow sees (default: a new one). `want_nodes` also gives every node's
        value. `network` is what the run may reach: `open`, or `gateway-only` for verification. A flow that fails, is
        refused, crashes or takes too long is a result with an error; nothing is raised but the caller's own
        cancellation, which ends the run's process.
        """
        run_id = uuid.uuid4().hex
        if not await self.ready():
            return failed(run_id, self._failure or CLOSED)
        try:
            catalogue = await self._known()
        except (OSError, ValueError):
            error = RunError(code="crash", message="The component catalogue is missing.", fix=INSTALL_FIX)
            return failed(run_id, error)
        if (refused := refuse(flow, catalogue)) is not None:
            return failed(run_id, refused)
        return await self._submit(
            runnable(flow),
            text,
            timeout=timeout,
            session=session,
            want_nodes=want_nodes,
            network=network,
            run_id=run_id,
        )

    async def _known(self) -> Catalogue:
        if self._catalogue is None:
            path = self._located().catalogue
            self._catalogue = await asyncio.to_thread(Catalogue.load, path)
        return self._catalogue

    def _located(self) -> RunnerEnvironment:
        if self._environment is None:
            self._environment = RunnerEnvironment.locate()
        return self._environment

    # Running

    async def _submit(
        self,
        data: JsonObject,
        text: str | None = None,
        *,
        timeout: float = 60.0,
        session: str | None = None,
        want_nodes: bool = False,
        network: Network = "open",
        run_id: str | None = None,
        started: Callable[[int], None] | None = None,
    ) -> RunResult:
        """Run nodes and edges that were already admitted; `started` is called with the run's process id."""
        run_id = run_id or uuid.uuid4().hex
        request: JsonObject = {
            "id": run_id,
            "type": "run",
            "text": text,
            "session": session,
            "timeout": timeout,
            "want_nodes": want_nodes,
            "network": network,
            "flow": data,
        }
        try:
            line = await asyncio.to_thread(encoded, request)
        except ValueError as error:
            return failed(run_id, RunError(code="refused", message=f"The flow cannot be sent: {error}.", fix=SHRINK))
        if self._waiting >= MAX_WAITING:
            return failed(run_id, RunError(code="limit", message="Too many runs are waiting.", fix="Try again later."))
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        if not await self._ready_or_release():
            return failed(run_id, self._failure or CLOSED)
        assert self._engine is not None  # noqa: S101 - ready says so
        return await self._converse(self._engine, run_id, line, timeout, started)

    async def _ready_or_release(self) -> bool:
        try:
            if await self.ready():
                return True
        except BaseException:
            self._places.release()
            raise
        self._places.release()
        return False

    async def _converse(
        self, engine: Engine, run_id: str, line: bytes, limit: float, started: Callable[[int], None] | None
    ) -> RunResult:
        """Send a run and wait for what ends it; holds a place, which is free again when the run's process is gone."""
        answer = engine.expect(run_id, started)
        try:
            engine.send(line)
            done, _ = await asyncio.wait([answer], timeout=limit + GRACE)
        except EngineDied:
            done = {answer}
        except asyncio.CancelledError:
            self._own(self._abandon(engine, run_id, answer))
            raise
        if not done:  # it does not even keep its own time limits
            self._own(self._abandon(engine, run_id, answer))
            return failed(run_id, ended("timeout", limit))
        self._places.release()
        try:
            return result_of(run_id, answer.result(), limit)
        except (EngineDied, asyncio.CancelledError):
            return failed(run_id, CLOSED if self._state == "closed" else ended("crash", limit))

    async def _abandon(self, engine: Engine, run_id: str, answer: asyncio.Future[JsonObject]) -> None:
        """End a run nobody waits for; when the engine does not confirm it, end the engine."""
        try:
            with contextlib.suppress(EngineDied):
                engine.send(encoded({"id": run_id, "type": "cancel"}))
            done, _ = await asyncio.wait([answer], timeout=CANCEL_TIMEOUT)
            if not done:
                await engine.kill()
        finally:
            engine.forget(run_id)
            self._places.release()

    def _own(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._owned.add(task)
        task.add_done_callback(self._owned.discard)

    # Installing and starting

    def _bring_up(self) -> asyncio.Task[None]:
        if self._bringing_up is None or (self._bringing_up.done() and self.state != "ready"):
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
        old, self._engine, self._failure = self._engine, None, None
        try:
            if old is not None:
                await old.kill()
            environment = await asyncio.to_thread(self._located)
            self._move("installing")
            await environment.install(self._say)
            try:
                engine = await self._launch(environment)
            except EngineDied:
                # What was installed may be damaged: once more, from the start.
                self._move("installing")
                self._say("The flow engine did not start; repairing it")
                await environment.install(self._say, repair=True)
                engine = await self._launch(environment)
        except InstallError as error:
            self._failure = RunError(code="crash", message=error.message, fix=error.fix)
            self._move("failed")
        except EngineDied as error:
            self._failure = RunError(code="crash", message=f"The flow engine does not start: {error}.", fix=INSTALL_FIX)
            self._move("failed")
        except OSError:
            message = "The flow engine could not be started: the system refused a file or a process."
            self._failure = RunError(code="crash", message=message, fix="Check the disk and its permissions.")
            self._move("failed")
        else:
            self._engine = engine
            self._move("ready")
            self._say("The flow engine is ready")

    async def _launch(self, environment: RunnerEnvironment) -> Engine:
        self._move("starting")
        self._say("Starting the flow engine")
        if self._folder is None:
            # In this thread: a cancelled `to_thread` would make the folder all the same, and nobody would remove it.
            self._folder = Path(tempfile.mkdtemp(prefix="wirewright-"))
        runs = self._folder / uuid.uuid4().hex[:8]
        command = [str(environment.python), "-I", "-X", "utf8", str(environment.main), "serve", str(runs)]
        engine, _ = await Engine.start(command, passed_environment(self._folder), self._folder, limit=START_TIMEOUT)
        return engine
