"""The steps of a turn: its calls of models, tools and stores, run directly or recorded so that each runs once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Literal, Protocol, TypeAlias

from pydantic_ai import AgentStreamEvent
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset

from agent.conversation.memory import Memory
from flows.json_values import Json
from runtime.results import RunResult
from runtime.sessions.run_entry import RunEntry
from runtime.sessions.runs import RunLog
from runtime.usage.entry import Usage
from runtime.usage.log import UsageLog
from tools.workbench import Workbench

Forward: TypeAlias = Callable[[AgentStreamEvent], Awaitable[None]]
"""Receives the events of a model's answer as they come."""

Kind: TypeAlias = Literal["read", "request", "act"]
"""What a step does: it reads, so that it may be done again as long as nothing follows from it; it asks a model; or
anything else, which begins when all before it is recorded."""


class Steps(Protocol):
    """Runs what a turn must not do twice. Everything else in a turn follows from these results."""

    def model(self, model: Model, forward: Forward) -> Model:
        """A model each of whose answers is a step.

        Args:
            model: the model.
            forward: receives the events of answers that are streamed, if they do not come from the returned model.
        """
        ...

    def toolset(self, toolset: AbstractToolset[Workbench], forward: Forward) -> AbstractToolset[Workbench]:
        """A toolset each of whose calls is a step, with what it changes on the workbench.

        Args:
            toolset: the toolset.
            forward: receives the events that tools emit, if they do not come from the agent's run.
        """
        ...

    def memory(self, memory: Memory) -> Memory:
        """A memory each access to which is a step."""
        ...

    async def on_bench(
        self, name: str, bench: Workbench, work: Callable[[], Awaitable[None]], kind: Kind = "act"
    ) -> None:
        """Do something that changes a workbench.

        Args:
            name: the step's name.
            bench: the workbench.
            work: changes it.
            kind: what it does beside that.
        """
        ...

    async def value(self, name: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """Something that is read, and may come out differently the next time.

        Args:
            name: the step's name.
            work: finds it.
        """
        ...

    async def count(self, log: UsageLog, user: str, used: dict[str, Usage]) -> None:
        """Count what the turn used, once."""
        ...

    async def log_run(self, log: RunLog, user: str, entry: RunEntry, result: RunResult) -> None:
        """Keep a run, once."""
        ...


class PlainSteps:
    """Runs everything directly, and records nothing."""

    def model(self, model: Model, forward: Forward) -> Model:
        """The model itself."""
        del forward
        return model

    def toolset(self, toolset: AbstractToolset[Workbench], forward: Forward) -> AbstractToolset[Workbench]:
        """The toolset itself."""
        del forward
        return toolset

    def memory(self, memory: Memory) -> Memory:
        """The memory itself."""
        return memory

    async def on_bench(
        self, name: str, bench: Workbench, work: Callable[[], Awaitable[None]], kind: Kind = "act"
    ) -> None:
        """Do it."""
        del name, bench, kind
        await work()

    async def value(self, name: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """Find it."""
        del name
        return await work()

    async def count(self, log: UsageLog, user: str, used: dict[str, Usage]) -> None:
        """Count it in the background."""
        log.record(user, used)

    async def log_run(self, log: RunLog, user: str, entry: RunEntry, result: RunResult) -> None:
        """Keep it in the background."""
        log.record(user, entry, result)


PLAIN: Final = PlainSteps()
