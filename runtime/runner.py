"""Runs flows on the real engine: each in its own process, with a time limit, and with its outcome as a value."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Self

from flows.catalogue import Catalogue
from flows.document import SHORT, Flow, JsonObject
from flows.json_values import is_short
from runtime.egress.policy import HostRule
from runtime.egress.service import AttachedEgress, Egress
from runtime.engine.component_results import (
    DESCRIBE_SECONDS,
    ComponentDescription,
    ComponentFailure,
    read_component,
    read_failure,
)
from runtime.engine.confinement import ConfinementRule, rule_of_environment
from runtime.engine.environment_variables import operator_hosts
from runtime.engine.protocol import describe_request, run_request
from runtime.engine.queue import RequestQueue
from runtime.engine.run_results import read_event, read_result
from runtime.engine.supervisor import EngineSupervisor, RunnerState
from runtime.files.exchange import FileExchange
from runtime.files.flow_files import NO_FILES
from runtime.gateway.models import Models
from runtime.gateway.service import ModelGateway
from runtime.guard.admission import has_untrusted_code
from runtime.install.environment import RunnerEnvironment
from runtime.options import RunOptions, takes
from runtime.preparation import is_quick, kept_variables, prepare_run
from runtime.redaction import Redactor
from runtime.results import RunError, RunFailed, RunResult
from runtime.sessions.keys import clean_key, flow_key
from runtime.sessions.memory import ProcessSessions, RunMessages, SessionMemory
from runtime.sessions.run_messages import recall, remember
from runtime.variables import Lookup


def environment_variable(name: str) -> str | None:
    """The value of a variable of this process's environment."""
    return os.environ.get(name)


class Runner:
    """Runs flows; installs and starts the engine when it is first needed, and again when it dies.

    An async context manager: entering it starts the installation and the engine without waiting for them (`ready`
    waits), leaving it ends every run.
    """

    def __init__(
        self,
        environment: RunnerEnvironment | None = None,
        *,
        catalogue: Catalogue | None = None,
        concurrency: int = 2,
        models: Models | None = None,
        allow_variables: Collection[str] = (),
        variables: Lookup = environment_variable,
        private_hosts: Collection[str] = (),
        host_rule: HostRule = "allow",
        confinement: ConfinementRule | None = None,
    ) -> None:
        """Prepare a runner; nothing is installed or started yet.

        Args:
            environment: the engine's environment; the one of this installation by default.
            catalogue: what flows are checked against before they run; by default the one that the engine exported.
            concurrency: how many flows may run at the same time.
            models: what flows may call, unless a run has other models; without any, flows that call models are refused.
            allow_variables: names of the variables that may enter runs where a secret field names them.
            variables: returns the values of variables; by default those of the process's environment.
            private_hosts: hosts that users' runs may reach wherever they are: `host`, `host:port`, `*.domain`, an
                address or a network. To a port that is named, runs connect without the proxy, too.
            host_rule: whether users' runs may reach public hosts: `allow`, `ask` (those that a run's options approve),
                or `deny`.
            confinement: whether flows run on a machine that lacks what confines them: `required` refuses them,
                `available` runs them with what the machine has. By default what `WIREWRIGHT_RUN_CONFINEMENT` says,
                else `required`.

        Raises:
            UnreadableHost: an entry of `private_hosts` is neither a host nor an address.
        """
        named = (*operator_hosts(), *private_hosts)
        rule = confinement or rule_of_environment()
        self._supervisor = EngineSupervisor(environment, catalogue, concurrency, named, confinement=rule)
        self._queue = RequestQueue(self._supervisor, concurrency, rule)
        self._gateway = ModelGateway()
        self._egress = Egress(named, host_rule)
        self._models = models
        self._allowed = allow_variables
        self._lookup = variables
        self._sessions = ProcessSessions()

    @property
    def state(self) -> RunnerState:
        """The engine's state; with `ready` a run starts at once."""
        return self._supervisor.state

    @property
    def failure(self) -> RunError | None:
        """Why the engine could not be installed or started, while the state is `failed`."""
        return self._supervisor.failure

    @property
    def host_rule(self) -> HostRule:
        """Whether users' runs may reach public hosts."""
        return self._egress.rule

    @property
    def engine_pid(self) -> int | None:
        """The process id of the engine, while it runs."""
        return None if self._supervisor.engine is None else self._supervisor.engine.pid

    @property
    def progress(self) -> str:
        """The last message about installing and starting the engine."""
        return self._supervisor.progress

    @property
    def on_progress(self) -> Callable[[str], None] | None:
        """Called with each message about installing and starting the engine, in words for a user."""
        return self._supervisor.on_progress

    @on_progress.setter
    def on_progress(self, on_progress: Callable[[str], None] | None) -> None:
        self._supervisor.on_progress = on_progress

    async def start(self) -> None:
        """Start installing and starting the engine, unless it runs; `ready` waits for it."""
        self._supervisor.start()

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds (by default without a limit) until flows can run; returns whether they can.

        An engine whose lock or bundles have changed is replaced first; its runs go on.
        """
        return await self._supervisor.ready(timeout)

    async def aclose(self) -> None:
        """End every run and the engine. Takes a few seconds at most, and may be called more than once."""
        await self._supervisor.aclose()
        await self._gateway.aclose()
        await self._egress.aclose()

    async def __aenter__(self) -> Self:
        """Start installing and starting the engine."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every run and the engine."""
        await self.aclose()

    @takes(RunOptions)
    async def run(self, flow: Flow, text: str | None = None, **options: Any) -> RunResult:
        """Run `flow` with `text` as its input; the keywords are the fields of `RunOptions`, which describes them.

        A flow that fails, is refused, crashes or takes too long is a result with an error. Only the caller's own
        cancellation raises; it ends the run's processes within a second.

        Args:
            flow: what to run.
            text: goes to the chat inputs, or else the text inputs, or else the webhooks; None leaves their values. Of
                several text inputs only the empty ones take it; if none is empty, the flow is refused.
            options: such as `timeout`, `session` or `tweaks`; `models` and `allow_variables` are by default those of
                the runner.
        """
        return await self.execute(flow, text, RunOptions(**options))

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run `flow` as `run` does, with its options in one object."""
        options = replace(
            options,
            models=options.models or self._models,
            allow_variables=self._allowed if options.allow_variables is None else options.allow_variables,
        )
        run_id = options.run_id or uuid.uuid4().hex
        try:
            with self._queue.enter():
                catalogue = await self._supervisor.catalogue()
                own = await kept_variables(options)
                at_once = is_quick(flow, catalogue, options)
                given = flow, catalogue, text, options, self._lookup, own
                prepared = prepare_run(*given) if at_once else await asyncio.to_thread(prepare_run, *given)
                redactor = Redactor(prepared.secrets)
                memory = self._memory(flow, options)
                messages = None if memory is None else RunMessages(await recall(memory))
                safe = redactor.guard(options)
                async with (
                    self._egress.attach(options) as egress,
                    self._gateway.attach(
                        prepared.data,
                        catalogue,
                        options.models,
                        patience=options.timeout,
                        on_event=safe.on_event,
                        at_once=at_once,
                    ) as attached,
                ):
                    exchange = FileExchange(prepared.files, options.files, self._supervisor)
                    result = await self._exchange(
                        attached.data,
                        text,
                        safe,
                        run_id=run_id,
                        gateway=attached.url,
                        egress=egress,
                        messages=messages,
                        files=exchange,
                        at_once=at_once,
                    )
                untrusted = has_untrusted_code(prepared.data, catalogue)
                reached = egress.account_for(replace(result, untrusted_code=untrusted))
                explained = prepared.explain(attached.account_for(reached))
                redacted = await asyncio.to_thread(redactor.result, explained) if redactor.hides else explained
                if memory is not None and messages is not None and redacted.ok:
                    redacted = await remember(memory, messages, redacted, redactor)
                if not exchange.returned:
                    return redacted
                return await asyncio.to_thread(exchange.keep, redacted, redactor, keep=not options.verification)
        except RunFailed as failure:
            return RunResult.failed(run_id, failure)

    async def describe_component(
        self, source: str, name: str, *, timeout: float = DESCRIBE_SECONDS
    ) -> ComponentDescription | ComponentFailure:
        """Create the component class `name` of `source` in a confined process without a network, and describe it.

        The source is executed: the guard must have admitted it. A source that fails, crashes or takes
        longer than `timeout` seconds is a `ComponentFailure`; nothing is raised.
        """
        request = describe_request(uuid.uuid4().hex, source, name, timeout)
        try:
            with self._queue.enter():
                answer = await self._queue.send(request)
        except RunFailed as failure:
            return read_failure(failure.error, timeout)
        return read_component(answer.message, timeout)

    async def add_bundles(self, requirements: Sequence[str], progress: Callable[[str], None]) -> Catalogue:
        """Install bundles beside what is installed, and go on with the engine that has them; returns its types.

        Nobody is asked: the caller has the user's consent. If it fails, everything stays as it was.

        Args:
            requirements: the packages, such as `lfx-bundles[chroma]`.
            progress: called with messages for the user.

        Raises:
            InstallError: they cannot be installed, or the engine does not work with them; it says what to do.
            RunFailed: the engine cannot be started.
        """
        return await self._supervisor.add_bundles(requirements, progress)

    async def _exchange(
        self,
        data: JsonObject,
        text: str | None,
        options: RunOptions,
        *,
        run_id: str,
        gateway: str | None = None,
        egress: AttachedEgress | None = None,
        on_started: Callable[[int], None] | None = None,
        messages: RunMessages | None = None,
        files: FileExchange | None = None,
        at_once: bool = False,
    ) -> RunResult:
        """Have the engine run admitted nodes and edges.

        Args:
            data: nodes and edges.
            text: the input.
            options: the run's options.
            run_id: identifies the run.
            gateway: the base URL of the model gateway.
            egress: what it reaches hosts by.
            on_started: gets the run's process id.
            messages: those of the session; gets what the engine reports about them.
            files: those that the run may read; gets those that it wrote.
            at_once: whether the nodes and edges are short.
        """
        request = run_request(
            run_id,
            data,
            text,
            options,
            gateway=gateway,
            egress=None if egress is None else egress.to_json(),
            messages=None if messages is None else messages.given,
        )
        on_event = options.on_event

        def forward(message: JsonObject) -> None:
            if on_event is not None and (event := read_event(message)) is not None:
                on_event(event)

        exchange = files or FileExchange(NO_FILES, None, self._supervisor)
        at_once = at_once and is_short([text, request["messages"]], SHORT)
        try:
            async with exchange.staged() as staged:
                request["file_fields"] = [[node, name] for node, name in exchange.given.fields]
                answer = await self._queue.send(
                    request, staged=staged, on_started=on_started, on_event=forward, at_once=at_once
                )
        except RunFailed as failure:
            return RunResult.failed(run_id, failure)
        if messages is not None:
            messages.reported = answer.message.get("messages")
        exchange.returned = answer.files
        return read_result(run_id, answer.message, options.timeout)

    def _memory(self, flow: Flow, options: RunOptions) -> SessionMemory | None:
        """Where a run's messages are kept; None if nothing of it is."""
        session = options.session_name
        if session is None or options.verification:
            return None
        return options.memory or self._sessions.memory(flow_key(flow), clean_key(session))
