"""What `ask` and `chat` share: the model, the flow to work on, and the assistant with its engine."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.engine import EngineUnavailable, install, ready_catalogue
from cli.errors import BadUsage
from cli.output.streams import print_message

if TYPE_CHECKING:
    from agent.assistant import Assistant
    from agent.settings import AssistantSettings
    from cli.flow.components import FlowComponents
    from flows.document import Flow

ModelName: TypeAlias = Annotated[str | None, typer.Option("--model", metavar="M", help="provider:name, or demo.")]


class StartingPoint:
    """The flow and the components that a command names.

    Everything that needs no engine is read and checked at once; components are made when the assistant is open.

    Attributes:
        canvas: the flow to work on, if any.
        components: the sources of the flow's own components.

    Raises:
        BadUsage: a file cannot be read, or holds no flow or component that can be used.
    """

    def __init__(self, flow: str | None, components: str | None) -> None:
        from cli.flow.components import read_sources, with_user_components
        from cli.flow.source import flow_of
        from cli.input.texts import read

        self.canvas: Flow | None = None
        self.components: tuple[str, ...] = ()
        self._sources = read_sources(components)
        source = None if flow is None else read(flow)
        self._spec = None if source is None or source.is_json else source
        if source is not None and source.is_json:
            self.canvas = flow_of(source)
        self._catalogue = ready_catalogue() if self._spec or self._sources.texts else None
        if self._spec is not None and self._catalogue is not None:
            self._sources = with_user_components(self._sources, self._spec.text, self._catalogue)
        if not self._sources.texts:
            self._use(self._sources.components([], self._catalogue))

    async def prepare(self, assistant: "Assistant") -> None:
        """Make the components with the assistant's engine, then the canvas that uses them."""
        from cli.flow.components import inspect_all
        from runtime.components.inspection import DescribesComponents

        if self._sources.texts and isinstance(assistant.runner, DescribesComponents):
            found = await inspect_all(self._sources.texts.values(), assistant.runner)
            self._use(self._sources.components(found, self._catalogue))

    def _use(self, own: "FlowComponents") -> None:
        from cli.flow.source import built

        for fault in own.faults:
            if fault.is_error:
                raise BadUsage("invalid_component", fault.message, fix=fault.fix, where="--components")
            print_message(fault.message)
        self.components = own.sources
        if self._spec is None or self._catalogue is None:
            return
        name, result = self._spec.name, built(self._spec, own.added_to(self._catalogue))
        if result.flow is None:
            fault = next(fault for fault in result.faults if fault.is_error)
            where = name if fault.line is None else f"{name}: line {fault.line}"
            raise BadUsage("invalid_flow", f"{name} does not build: {fault.message}", fix=fault.fix, where=where)
        self.canvas = result.flow


def check_model(model: str | None, settings: "AssistantSettings") -> None:
    """Refuse an unavailable model before any work begins.

    Raises:
        BadUsage: naming the option or the variable that selects it.
    """
    from agent.errors import AssistantUnavailable
    from agent.models.providers import choose
    from cli.files.local import local_keys

    try:
        choose(model, settings.model, local_keys().environment())
    except AssistantUnavailable as error:
        where = "--model" if model is not None else "WIREWRIGHT_MODEL"
        raise BadUsage(error.error.code, error.error.message, fix=error.error.fix, where=where) from None


@asynccontextmanager
async def open_assistant(settings: "AssistantSettings", start: StartingPoint) -> AsyncGenerator["Assistant"]:
    """Install the engine if it is missing, open the assistant and prepare what it starts from.

    An engine that cannot be installed, or that could run nothing here, is noted: questions are answered without it.
    """
    from agent.assistant import Assistant
    from runtime.engine.isolation import refusal_of_machine
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError

    try:
        environment = RunnerEnvironment.locate(settings.cache)
        refusal = None if environment.installed else refusal_of_machine(environment.source, settings.run_confinement)
        if refusal is None:
            await install()
        else:
            print_message(f"{refusal.message} {refusal.fix}")
    except (EngineUnavailable, InstallError) as unavailable:
        print_message(f"{unavailable.message} {unavailable.fix}")
    async with Assistant.open(settings) as assistant:
        await start.prepare(assistant)
        yield assistant
