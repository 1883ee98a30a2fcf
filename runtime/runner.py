"""Runs flows on the real engine: each in a process of its own, bounded in time, its outcome always a value."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Literal, Self, TypeAlias

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from runtime.engine.component_messages import SECONDS, Made, NotMade, made_of
from runtime.engine.process import Engine, EngineDied
from runtime.engine.run_messages import CLOSED, SHRINK, encoded, ended, event_of, failed, result_of
from runtime.engine.supervisor import INSTALL_FIX, RunnerState, WarmEngine
from runtime.gateway.access import Models
from runtime.gateway.flow_models import Refused
from runtime.gateway.leases import ModelRuns
from runtime.install.environment import RunnerEnvironment
from runtime.preparation import Conditions, prepared
from runtime.redaction import Scrubber
from runtime.results import BUSY, RunError, RunEvent, RunResult
from runtime.tweaks import Tweaks
from runtime.variables import Lookup

Network: TypeAlias = Literal["gateway-only", "open"]
"""What a run may reach: the model gateway alone (nothing, when it calls no model), or whatever this machine can."""

GRACE = 5.0
"""Seconds after a run's own time limit by which the engine must have said so itself."""
KILL_TIMEOUT = 0.5
"""Seconds after which a cancelled run that the engine has not ended is ended from here."""
CANCEL_TIMEOUT = 2.0
"""Seconds after which an engine that has not even noticed that is ended itself."""
MAX_WAITING = 64
"""Runs that may wait for a free place; one more is refused as busy."""

OnEvent: TypeAlias = Callable[[RunEvent], None]


class Runner:
    """Runs flows; installs and starts the engine when it is first needed, and again when it dies.

    An async context manager: entering begins the installation and start without waiting for them (`ready` waits),
    leaving ends every run.
    """

    def __init__(
        self,
        environment: RunnerEnvironment | None = None,
        *,
        catalogue: Catalogue | None = None,
        concurrency: int = 2,
        models: Models | None = None,
        allow_variables: Collection[str] = (),
        variables: Lookup = os.environ.get,
        private_hosts: Collection[str] = (),
    ) -> None:
        """Use `environment` (default: the one of this installation), at most `concurrency` runs at the same time.

        `catalogue` is what flows are checked against before they run (default: the one that the engine exported).
        `models` is what flows may call, unless a run brings its own; None refuses flows that call models.
        `allow_variables` are the names of the variables that may enter runs where a secret field names them, and
        `variables` gives their values. `private_hosts` are private addresses that the engine lets flows call.
        """
        self._concurrency = concurrency
        self._places = asyncio.Semaphore(concurrency)
        self._inside = 0
        self._warm = WarmEngine(environment, catalogue, concurrency, private_hosts)
        self._models = models
        self._model_runs = ModelRuns()
        self._allowed = allow_variables
        self._lookup = variables

    @property
    def state(self) -> RunnerState:
        """Where it stands: `ready` means that a run starts at once."""
        return self._warm.state

    @property
    def failure(self) -> RunError | None:
        """Why the engine could not be installed or started, while the state is `failed`."""
        return self._warm.failure

    @property
    def engine_pid(self) -> int | None:
        """The process id of the engine, while there is one."""
        return None if self._warm.engine is None else self._warm.engine.pid

    @property
    def progress(self) -> str:
        """The last message about installing and starting."""
        return self._warm.progress

    @property
    def on_progress(self) -> Callable[[str], None] | None:
        """Called with each message about installing and starting, in words for the person who waits."""
        return self._warm.on_progress

    @on_progress.setter
    def on_progress(self, tell: Callable[[str], None] | None) -> None:
        self._warm.on_progress = tell

    @property
    def closed_ports(self) -> Collection[int]:
        """TCP ports that no run may connect to, whatever its network: those of the server that it is asked by.

        Best set before it starts: processes that wait ready were made for the ports of that time, and are made anew.
        """
        return self._warm.closed_ports

    @closed_ports.setter
    def closed_ports(self, ports: Collection[int]) -> None:
        self._warm.closed_ports = frozenset(ports)

    async def start(self) -> None:
        """Begin to install and start the engine, unless it is there; `ready` waits for it."""
        self._warm.start()

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds (default: as long as it takes) until it can run flows; whether it can.

        An engine whose lock or bundles have changed is replaced first; the runs that it has go on.
        """
        return await self._warm.ready(timeout)

    async def aclose(self) -> None:
        """End every run and the engine. Takes a few seconds at most, and may be called more than once."""
        await self._warm.aclose()
        await self._model_runs.aclose()

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
        models: Models | None = None,
        tweaks: Tweaks | None = None,
        on_event: OnEvent | None = None,
        max_iterations: int | None = None,
        allow_variables: Collection[str] | None = None,
    ) -> RunResult:
        """Run `flow` with `text` as its input, for at most `timeout` seconds, and give its outcome.

        A flow that fails, is refused, crashes or takes too long is a result with an error; nothing is raised but the
        caller's own cancellation, which ends the run's processes within a second.

        Args:
            flow: what to run.
            text: goes to the chat inputs, or else the text inputs, or else the webhooks; None leaves what they hold.
            timeout: seconds that the run itself may take, without its waiting for a free place.
            session: the session id that the flow sees (default: a new one).
            want_nodes: whether the result has every node's value.
            network: what the run may reach: `open`, or `gateway-only` for verification.
            models: what the flow may call in place of the runner's own, a script for instance.
            tweaks: values for this run alone, by node id and field name.
            on_event: called on the loop with each event, in order, before the result is given; it must not wait.
            max_iterations: times that one node may be run (default: 1,000); more is an error of code `limit`.
            allow_variables: names of the variables that may enter (default: those of the runner).
        """
        run_id = uuid.uuid4().hex
        if self._inside >= self._concurrency + MAX_WAITING:
            return failed(run_id, BUSY)
        self._inside += 1
        try:
            if not await self.ready():
                return failed(run_id, self.failure or CLOSED)
            try:
                catalogue = await self._warm.catalogue()
            except (OSError, ValueError):
                error = RunError(code="crash", message="The component catalogue is missing.", fix=INSTALL_FIX)
                return failed(run_id, error)
            models = models or self._models
            conditions = Conditions(
                tweaks=tweaks or {},
                variables=self._allowed if allow_variables is None else allow_variables,
                lookup=self._lookup,
                verification=network != "open",
                has_models=models is not None,
            )
            ready = await asyncio.to_thread(prepared, flow, catalogue, conditions)
            if isinstance(ready, RunError):
                return failed(run_id, ready)
            scrubber = Scrubber(ready.secrets)
            try:
                async with self._model_runs.run(ready.data, catalogue, models) as called:
                    result = await self._submit(
                        called.data,
                        text,
                        timeout=timeout,
                        session=session,
                        want_nodes=want_nodes,
                        network=network,
                        run_id=run_id,
                        gateway=called.gateway,
                        on_event=_scrubbed(on_event, scrubber),
                        max_iterations=max_iterations,
                    )
            except Refused as refusal:
                return failed(run_id, refusal.error)
            counted = called.counted(result)
            return await asyncio.to_thread(scrubber.result, replace(counted, error=ready.explained(counted.error)))
        finally:
            self._inside -= 1

    async def describe_component(self, source: str, name: str, *, timeout: float = SECONDS) -> Made | NotMade:
        """Make the component class `name` of `source` in a confined process without a network, and tell what it is.

        The source is executed: whoever calls this has had it read by the guard. Nothing is raised for a source that
        fails, crashes or hangs (`timeout` is in seconds).
        """
        request_id = uuid.uuid4().hex
        if self._inside >= self._concurrency + MAX_WAITING:
            return NotMade("busy", BUSY.message, BUSY.fix)
        self._inside += 1
        try:
            request: JsonObject = {"id": request_id, "type": "describe", "source": source, "class": name}
            line = encoded({**request, "timeout": timeout, "network": "gateway-only"})
            await self._places.acquire()
            if not await self._ready_or_release():
                error = self.failure or CLOSED
                return NotMade("crash", error.message, error.fix)
            engine = self._warm.engine
            assert engine is not None  # noqa: S101 - ready says so
            answer = await self._answered(engine, request_id, line, timeout, None, None)
        finally:
            self._inside -= 1
        return made_of(answer, timeout)

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
        gateway: str | None = None,
        started: Callable[[int], None] | None = None,
        on_event: OnEvent | None = None,
        max_iterations: int | None = None,
    ) -> RunResult:
        """Run nodes and edges that were already admitted; `started` is called with the run's process id."""
        run_id = run_id or uuid.uuid4().hex
        request: JsonObject = {
            "id": run_id,
            "type": "run",
            "text": text,
            "session": (session or "").strip() or None,
            "timeout": timeout,
            "want_nodes": want_nodes,
            "network": network,
            "closed": list[Json](self._warm.closed_ports) if network == "open" else [],
            "events": on_event is not None,
            "max_iterations": max_iterations,
            "gateway": gateway,
            "flow": data,
        }
        try:
            line = await asyncio.to_thread(encoded, request)
        except ValueError as error:
            return failed(run_id, RunError(code="refused", message=f"The flow cannot be sent: {error}.", fix=SHRINK))
        await self._places.acquire()
        if not await self._ready_or_release():
            return failed(run_id, self.failure or CLOSED)
        engine = self._warm.engine
        assert engine is not None  # noqa: S101 - ready says so
        return await self._converse(engine, run_id, line, timeout, started, on_event)

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
        self,
        engine: Engine,
        run_id: str,
        line: bytes,
        limit: float,
        started: Callable[[int], None] | None,
        on_event: OnEvent | None,
    ) -> RunResult:
        """Send a run and wait for its outcome."""
        answer = await self._answered(engine, run_id, line, limit, started, on_event)
        if isinstance(answer, RunError):
            return failed(run_id, answer, limit if answer.code == "timeout" else 0.0)
        return result_of(run_id, answer, limit)

    async def _answered(
        self,
        engine: Engine,
        run_id: str,
        line: bytes,
        limit: float,
        started: Callable[[int], None] | None,
        on_event: OnEvent | None,
    ) -> JsonObject | RunError:
        """Send a request and wait for what ends it; holds a place, which is free again when its process is gone."""
        answer = engine.expect(run_id, started, _teller(on_event))
        try:
            engine.send(line)
            done, _ = await asyncio.wait([answer], timeout=limit + GRACE)
        except EngineDied:
            done = {answer}
        except asyncio.CancelledError:
            self._warm.own(self._abandon(engine, run_id, answer))
            raise
        if not done:  # it does not even keep its own time limits
            self._warm.own(self._abandon(engine, run_id, answer))
            return ended("timeout", limit)
        self._places.release()
        try:
            return answer.result()
        except (EngineDied, asyncio.CancelledError):
            return CLOSED if self.state == "closed" else ended("crash", limit)

    async def _abandon(self, engine: Engine, run_id: str, answer: asyncio.Future[JsonObject]) -> None:
        """End a run nobody waits for; when the engine does not confirm it, end the engine."""
        try:
            with contextlib.suppress(EngineDied):
                engine.send(encoded({"id": run_id, "type": "cancel"}))
            done, _ = await asyncio.wait([answer], timeout=KILL_TIMEOUT)
            if not done:
                engine.end_run(run_id)
                done, _ = await asyncio.wait([answer], timeout=CANCEL_TIMEOUT)
            if not done:
                await engine.kill()
        finally:
            engine.forget(run_id)
            self._places.release()


def _teller(on_event: OnEvent | None) -> Callable[[JsonObject], None] | None:
    """Gives the events of the engine's messages to `on_event`."""
    if on_event is None:
        return None

    def tell(message: JsonObject) -> None:
        if (event := event_of(message)) is not None:
            on_event(event)

    return tell


def _scrubbed(on_event: OnEvent | None, scrubber: Scrubber) -> OnEvent | None:
    """Gives events without secrets to `on_event`."""
    if on_event is None:
        return None

    def tell(event: RunEvent) -> None:
        for safe in scrubber.event(event):
            on_event(safe)

    return tell
