"""A Python callable as a player: any agent that takes a turn's request and gives its result, or a flow and words."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, cast

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent, TurnResult
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, Unplayable, result_only
from evals.scenario import Scenario
from flows.diff import diff
from flows.document import Flow, FlowFormatError
from runtime.results import RunResult

Taken: TypeAlias = TurnResult | Mapping[str, Any]
"""A result, or `{"flow": Langflow JSON, "text": words, "run": RunResult.to_json()}`, each of them optional."""
Function: TypeAlias = Callable[[TurnRequest], Awaitable[Taken]]


class FunctionPlayer:
    """Plays with an asynchronous function.

    Args:
        function: takes one turn.
        name: how reports call it.
    """

    def __init__(self, function: Function, name: str) -> None:
        self._function = function
        self.name = name

    @classmethod
    def named(cls, place: str) -> FunctionPlayer:
        """The player of the function `module:function`, of an installed module or one in the working folder.

        Raises:
            ValueError: when there is no such function.
        """
        module, _, name = place.partition(":")
        if str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError):
            raise ValueError(f"there is no function {place!r}; name it as module:function") from None
        if not callable(found):
            raise ValueError(f"{place!r} cannot be called")
        return cls(cast("Function", found), f"python:{place}")

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that calls the function for every turn."""
        return _Seat(self._function)


class _Seat:
    def __init__(self, function: Function) -> None:
        self._function = function

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        return self._taken(request)

    @asynccontextmanager
    async def _taken(self, request: TurnRequest) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
        started = perf_counter()
        given = await self._function(request)
        result = given if isinstance(given, TurnResult) else result_of(request, given, perf_counter() - started)
        async with result_only(result) as events:
            yield events


def result_of(request: TurnRequest, given: Mapping[str, Any], seconds: float) -> TurnResult:
    """The result of a turn that is given as a flow and words.

    Args:
        request: what was asked.
        given: what came of it.
        seconds: how long it took.

    Raises:
        Unplayable: when the flow or the run is none.
    """
    before = request.flow or Flow.empty()
    try:
        after = before if given.get("flow") is None else Flow.from_json(given["flow"])
        run = given.get("run")
        runs = [] if run is None else [RunResult.from_json(run)]
    except (FlowFormatError, KeyError, TypeError, ValueError) as error:
        raise Unplayable(f"the player gave no flow or run that can be read: {error}") from None
    return TurnResult(
        outcome="complete",
        intent="build_flow",
        text=str(given.get("text") or ""),
        before=before,
        after=after,
        actions=list(diff(before, after)),
        runs=runs,
        seconds=seconds,
    )
