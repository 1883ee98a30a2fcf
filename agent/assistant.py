"""The assistant: assembled in one place, it takes turns."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic_ai.models import Model

from agent.chain import chain
from agent.conduct import Conduct
from agent.failures import AssistantUnavailable
from agent.inflow import flow_models
from agent.providers import ModelChoice, choose, connect
from agent.settings import AssistantSettings
from agent.stream import TurnStream
from agent.turn import TurnError, TurnRequest
from flows.catalogue import Catalogue, CatalogueMissing
from flows.document import Flow
from runtime.provision import RunnerEnvironment
from runtime.runner import Runner
from tools.run import READY_SECONDS
from tools.workbench import Runs, Workbench, obstacle


class Assistant:
    """Takes turns: one message in, a stream of events out, a result at its end.

    Args:
        settings: what the environment says.
        runner: runs flows.
        catalogue: the component types; None loads the exported ones when a turn first needs them.
        model: answers every turn in place of the configured providers: a script, or a test's model.
    """

    def __init__(
        self,
        settings: AssistantSettings,
        runner: Runs,
        *,
        catalogue: Catalogue | None = None,
        model: Model | None = None,
    ) -> None:
        self.settings = settings
        self.runner = runner
        self._catalogue = catalogue
        self._model = model
        self._connected: dict[tuple[str, str], Model] = {}

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: AssistantSettings | None = None, *, model: Model | None = None
    ) -> AsyncGenerator["Assistant"]:
        """Assemble an assistant and start its runner in the background; leaving ends both.

        Args:
            settings: what the environment says; read now when None.
            model: answers every turn in place of the configured providers.
        """
        settings = settings or AssistantSettings()
        environment = RunnerEnvironment.locate(settings.cache)
        models = flow_models(settings.model, own=model)
        runner = Runner(
            environment,
            concurrency=settings.concurrency,
            models=models,
            allow_variables=settings.run_variables,
        )
        async with runner:
            yield cls(settings, runner, model=model)

    def choose(self, wanted: str | None) -> ModelChoice:
        """The models that would serve a request.

        Args:
            wanted: what the request names, or None.

        Raises:
            ModelChoiceError: when the provider is unknown or not configured.
        """
        if self._model is not None:
            return ModelChoice(provider="scripted", names=(self._model.model_name,))
        return choose(wanted, self.settings.model)

    @property
    def knows_components(self) -> bool:
        """Whether the component types can be had without waiting for the runner's first installation."""
        return self._catalogue is not None or (self.settings.cache / "catalogue.json").exists()

    async def catalogue(self) -> Catalogue:
        """The component types, loaded once; waits for the runner's first installation when there are none yet.

        Raises:
            AssistantUnavailable: when they cannot be had.
        """
        if self._catalogue is None:
            path = self.settings.cache / "catalogue.json"
            try:
                self._catalogue = await asyncio.to_thread(Catalogue.load, path)
            except CatalogueMissing:
                await self._installed()
                self._catalogue = await asyncio.to_thread(Catalogue.load, path)
        return self._catalogue

    def turn(self, request: TurnRequest) -> TurnStream:
        """One turn, as a stream to iterate and to leave; nothing happens before its first event is asked for.

        Raises:
            ModelChoiceError: when the requested model cannot be had.
        """
        return TurnStream(Conduct(self, request, self.choose(request.model)).run)

    def workbench(self, request: TurnRequest, catalogue: Catalogue, choice: ModelChoice) -> Workbench:
        """What the tools of a turn work on; a flow that asks for the assistant's model gets the one of this turn."""
        default = choice.provider if choice.is_demo or not choice.names else f"{choice.provider}:{choice.names[0]}"
        return Workbench(
            user=request.user,
            session=request.session,
            catalogue=catalogue,
            runner=self.runner,
            flow=request.flow or Flow.empty(),
            models=flow_models(default, connect=self.model, own=self._model),
        )

    def model(self, choice: ModelChoice) -> Model:
        """The model of one turn: an own one, or the chain over the chosen candidates."""
        if self._model is not None:
            return self._model
        return chain([self._candidate(choice.provider, name) for name in choice.names])

    def _candidate(self, provider: str, name: str) -> Model:
        key = (provider, name)
        if key not in self._connected:
            self._connected[key] = connect(provider, name)
        return self._connected[key]

    async def _installed(self) -> None:
        unavailable = await obstacle(self.runner, READY_SECONDS)
        if unavailable is not None:
            raise AssistantUnavailable(
                TurnError(code="catalogue_missing", message=unavailable.message, fix=unavailable.fix)
            )
