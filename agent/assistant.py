"""The assistant: assembles settings, memory, models and runner, and takes turns."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from pydantic_ai.models import Model

from agent.conversation.context import Conversation
from agent.conversation.in_process import ProcessMemory
from agent.conversation.later_runs import LaterRuns
from agent.conversation.memory import Memory
from agent.conversation.queue import TurnQueue
from agent.conversation.stored import StoredMemory, store_failures
from agent.durable.steps import PLAIN, Steps
from agent.errors import AssistantUnavailable
from agent.models.clients import Clients
from agent.models.flow_models import flow_models
from agent.models.keys import KeptKeys, ProviderKeys
from agent.models.providers import ModelChoice, ProviderInfo, available, choose
from agent.settings import AssistantSettings
from agent.turn.log import logged
from agent.turn.record import TurnRecord
from agent.turn.request import TurnRequest, request_without_keys
from agent.turn.result import TurnError
from agent.turn.run import run_turn
from agent.turn.services import CanvasStore
from agent.turn.state import Turn
from agent.turn.stream import Send, TurnStream
from flows.bundles import BundleIndex, bundle_index
from flows.catalogue import Catalogue, CatalogueMissing
from flows.document import Flow
from runtime.components.inspection import DescribesComponents
from runtime.components.store import UserComponentError, UserComponents, clear
from runtime.components.store import names as component_names
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from runtime.gateway.models import Models
from runtime.install.catalogue_file import CatalogueFile
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from runtime.install.shipped import shipped_catalogue
from runtime.keychain.user_variables import UserVariables
from runtime.runner import Runner
from runtime.sessions.memory import SessionMemory
from runtime.sessions.patient import PATIENCE_SECONDS, PatientMemory
from runtime.sessions.runs import RunLog
from runtime.sessions.store import FlowSessions
from runtime.telemetry import log_event
from runtime.usage.log import UsageLog
from tools.approvals import Approval
from tools.consent.install import AddsBundles
from tools.workbench import MAX_ATTEMPTS, READY_SECONDS, FlowRunner, Workbench, wait_for_runner

UsedComponents: TypeAlias = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Says which of these component types the user's flows use."""


class Assistant:
    """Takes turns: one message in, a stream of events out, a result at its end.

    Args:
        settings: the settings.
        runner: runs flows.
        catalogue: the component types; None loads the exported ones when a turn first needs them.
        model: serves every turn instead of the configured providers, such as a script.
        memory: stores conversations; None follows the settings.
        clients: connects to the configured providers; None connects to the real ones.
        bundles: the bundles that can be installed; None takes those that ship with the package.
        waits_for_engine: whether a turn that builds a flow waits for the engine's first installation; otherwise the
            flow is run once the engine is there, and the next turn says how it went.
    """

    def __init__(
        self,
        settings: AssistantSettings,
        runner: FlowRunner,
        *,
        catalogue: Catalogue | None = None,
        model: Model | None = None,
        memory: Memory | None = None,
        clients: Clients | None = None,
        bundles: BundleIndex | None = None,
        waits_for_engine: bool = True,
    ) -> None:
        self.settings = settings
        self.database = Database(settings.database_url, settings.data)
        self.flow_sessions = FlowSessions(self.database)
        self.run_log = RunLog(self.database, settings.runs_kept)
        self.usage_log = UsageLog(self.database)
        self.memory = memory or (StoredMemory(self.database) if settings.memory == "file" else ProcessMemory())
        self.runner = runner
        self._catalogue = catalogue
        self._exported = CatalogueFile(settings.cache / "catalogue.json", lambda: shipped_catalogue(settings.cache))
        self._model = model
        self._bundles = bundles
        self.later_runs = None if waits_for_engine else LaterRuns(runner)
        self.queue = TurnQueue()
        self._clients = clients or Clients(lambda: os.environ)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: AssistantSettings | None = None, *, model: Model | None = None, waits_for_engine: bool = True
    ) -> AsyncGenerator["Assistant"]:
        """Assemble an assistant and start its runner in the background; leaving ends both.

        Args:
            settings: the settings; None reads them from the environment.
            model: serves every turn instead of the configured providers.
            waits_for_engine: whether a turn that builds a flow waits for the engine's first installation.
        """
        settings = settings or AssistantSettings()
        environment = RunnerEnvironment.locate(settings.cache)
        models = flow_models(settings.model, override=model)
        runner = Runner(
            environment,
            concurrency=settings.concurrency,
            models=models,
            allow_variables=settings.run_variables,
            private_hosts=settings.run_hosts,
            host_rule=settings.run_network,
            confinement=settings.run_confinement,
        )
        async with runner:
            assistant = cls(settings, runner, model=model, waits_for_engine=waits_for_engine)
            try:
                yield assistant
            finally:
                await assistant.aclose()

    def keys_of(self, user: str) -> ProviderKeys:
        """Return the keys of providers that a user has stored."""
        return ProviderKeys(self.database, user)

    async def choose(self, wanted: str | None, user: str = LOCAL_USER) -> ModelChoice:
        """Choose the models that serve a request, by the keys that the user has now.

        Args:
            wanted: the model that the request names, if any.
            user: the user's id.

        Raises:
            ModelChoiceError: the provider is unknown or not configured.
            AssistantUnavailable: the user's keys cannot be read.
        """
        with store_failures():
            keys = await self.keys_of(user).read()
        if self._model is not None:
            return ModelChoice(provider="scripted", names=(self._model.model_name,), secrets=keys.kept)
        return replace(choose(wanted, self.settings.model, keys.environment()), secrets=keys.kept)

    @property
    def knows_components(self) -> bool:
        """Whether the component types are available without waiting for the runner's first installation."""
        return self._catalogue is not None or self._exported.available

    async def catalogue(self) -> Catalogue:
        """Return the current component types; waits for the runner's first installation if there are none yet.

        Raises:
            AssistantUnavailable: the runner cannot be installed.
        """
        if self._catalogue is not None:
            return self._catalogue
        try:
            return await self._exported.current()
        except CatalogueMissing:
            unavailable = await wait_for_runner(self.runner, READY_SECONDS)
            if unavailable is not None:
                raise AssistantUnavailable(
                    TurnError(code="catalogue_missing", message=unavailable.message, fix=unavailable.fix)
                ) from None
            return await self._exported.current()

    def turn(
        self,
        request: TurnRequest,
        store: CanvasStore | None = None,
        choice: ModelChoice | None = None,
        steps: Steps = PLAIN,
    ) -> TurnStream:
        """Take a turn, as a stream of events; it starts when the first event is awaited.

        The first event raises `ModelChoiceError` when the requested model is unavailable.

        Args:
            request: the request; while another turn of its conversation runs, this one waits.
            store: the stored flow that it works on, which is saved at its end.
            choice: the models that serve it, as `choose` has chosen them; None lets it choose when it starts.
            steps: carries out what must not be done twice.
        """
        request, keys = request_without_keys(request, self.settings.input_limit)
        begun: list[Turn] = []

        async def take(send: Send) -> None:
            chosen = choice or await self.choose(request.model, request.user)
            turn = Turn(self, request, chosen, store, keys, steps)
            begun.append(turn)
            await logged(partial(run_turn, turn), turn.id, request, chosen, self.settings)(send)

        return TurnStream(
            take,
            lambda: begun[0].canvas if begun else request.flow or Flow.empty(),
            lambda: begun[0].record if begun else TurnRecord(),
        )

    async def pending(self, user: str, session: str) -> dict[str, Approval]:
        """Return the pending approvals of a conversation, by tool call id."""
        pending = (await self.memory.load(user, session)).pending
        return {} if pending is None else pending.unanswered

    async def kept_canvas(self, user: str, session: str) -> Flow | None:
        """Return the canvas that a conversation keeps, if its turns asked for it with `keep_canvas`."""
        return (await self.memory.load(user, session)).canvas

    async def reset(self, user: str, session: str | None, used: UsedComponents | None = None) -> int:
        """Delete a conversation, what its runs remember, and its user's components; returns how many components.

        Args:
            user: the user's id.
            session: the conversation's id; None deletes the components alone.
            used: says which of these components are used by the user's flows, and are kept.
        """
        if session is not None:
            await self._forget(user, session)
        try:
            names = await asyncio.to_thread(component_names, self.settings.data, user)
            keep = await used(names) if used is not None and names else ()
            cleared = await asyncio.to_thread(clear, self.settings.data, user, keep)
        except (UserComponentError, OSError):
            cleared = 0
        log_event("assistant.session.reset", session_id=session, components_cleared=cleared)
        return cleared

    async def forget(self, user: str, session: str) -> None:
        """Delete one conversation and what its runs remember; the user's components stay."""
        await self._forget(user, session)
        log_event("assistant.session.reset", session_id=session, components_cleared=0)

    async def _forget(self, user: str, session: str) -> None:
        async def delete() -> None:
            await self.memory.forget(user, session)
            with store_failures():
                await self.flow_sessions.remove_everywhere(user, session)

        await self.queue.forget(user, session, delete)

    async def drop_plan(self, user: str, session: str) -> None:
        """Forget the dismissed plan of a conversation, so that the next message does not quote it."""
        await Conversation(self.memory, user, session).drop_plan()
        log_event("assistant.session.reset", session_id=session)

    def workbench(self, request: TurnRequest, catalogue: Catalogue, choice: ModelChoice) -> Workbench:
        """Return a turn's workbench; flows that use the assistant's model get the model of this turn."""
        default = choice.provider if choice.is_demo or not choice.names else f"{choice.provider}:{choice.names[0]}"
        return Workbench(
            user=request.user,
            session=request.session,
            catalogue=catalogue,
            runner=self.runner,
            flow=request.flow or Flow.empty(),
            has_model=not choice.is_demo,
            models=self._flow_models(default, KeptKeys.of(choice)),
            user_files=UserFiles(self.settings.data, request.user, self.settings.file_limits),
            user_variables=self.variables(request.user),
            host_rule=self.settings.run_network,
            user_components=self._user_components(request),
            max_attempts=request.max_attempts or MAX_ATTEMPTS,
            memory=self._session_memory(request),
            install=self.install if isinstance(self.runner, AddsBundles) and "admin" in request.scopes else None,
            may_run="run" in request.scopes,
            index=self._bundles,
        )

    def variables(self, user: str) -> UserVariables:
        """Return the variables that a user keeps."""
        return UserVariables(self.database, user)

    async def models_of(self, user: str) -> Models | None:
        """Return the models of a user's flows; None for the runner's own, when the user keeps no provider's key."""
        with store_failures():
            keys = await self.keys_of(user).read()
        if user == LOCAL_USER and keys.is_empty:
            return None  # those of the runner are this user's
        return self._flow_models(self.settings.model, keys)

    def _flow_models(self, default: str | None, keys: KeptKeys) -> Models:
        return flow_models(
            default,
            connect=lambda choice: self._clients.models_now(choice, keys.flow_environment()),
            override=self._model,
            environment=keys.flow_environment,
        )

    @property
    def bundles(self) -> BundleIndex:
        """The bundles that can be installed."""
        return self._bundles or bundle_index()

    async def install(self, requirements: list[str], progress: Callable[[str], None]) -> Catalogue:
        """Install bundles for all users of this assistant, and return its types from then on.

        Nobody is asked: the caller has the consent of someone who may give it.

        Args:
            requirements: the packages.
            progress: called with messages for the user.

        Raises:
            InstallError: they cannot be installed; it says what to do.
            RunFailed: the engine cannot be started with them.
        """
        if not isinstance(self.runner, AddsBundles):
            raise InstallError("This runner cannot be given other packages.", "Use the flow engine itself.")
        catalogue = await self.runner.add_bundles(requirements, progress)
        if self._catalogue is not None:
            self._catalogue = catalogue
        return catalogue

    def _session_memory(self, request: TurnRequest) -> SessionMemory:
        """What the runs of a conversation remember: by its stored flow, the id in its flow, or the conversation."""
        memory = self.flow_sessions.memory(request.user, request.run_key, request.session)
        return PatientMemory(memory, PATIENCE_SECONDS)

    def _user_components(self, request: TurnRequest) -> UserComponents | None:
        if not isinstance(self.runner, DescribesComponents):
            return None
        return UserComponents(self.settings.data, request.user, self.runner, request.components)

    def providers(self, choice: ModelChoice) -> list[ProviderInfo]:
        """Return the providers that are configured for the user of a turn, whose models the user's flows may use."""
        return available(KeptKeys.of(choice).environment())

    async def model(self, choice: ModelChoice) -> Model:
        """Return the model of one turn: the given one, or the chain over the chosen candidates."""
        if self._model is not None:
            return self._model
        keys = KeptKeys.of(choice)
        return await self._clients.models(choice, keys.environment() if keys.kept.providers else None)

    async def aclose(self) -> None:
        """Close the connections to the model providers and the database, and give up what still waits to be run."""
        if self.later_runs is not None:
            await self.later_runs.aclose()
        await self._clients.aclose()
        await self.run_log.aclose()
        await self.usage_log.aclose()
        await self.database.aclose()
