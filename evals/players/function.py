"""A Python callable as a player: it takes a turn's request and returns a result, or a flow and a text."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, cast

from pydantic_core import PydanticSerializationError

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, AgentFailed, ResultAgent
from evals.scenario import Scenario
from flows.diff import diff
from flows.document import Flow, FlowFormatError
from runtime.results import RunResult

Answer: TypeAlias = TurnResult | Mapping[str, Any]
"""A result, or `{"flow": Langflow JSON, "text": words, "run": RunResult.to_json()}`, each of them optional."""
Function: TypeAlias = Callable[[TurnRequest], Awaitable[Answer]]


class FunctionPlayer:
    """Plays with an asynchronous function."""

    def __init__(self, function: Function, name: str) -> None:
        self._function = function
        self.name = name

    @classmethod
    def named(cls, target: str) -> FunctionPlayer:
        """The player of the function `module:function`, of an installed module or one in the working folder.

        Raises:
            ValueError: there is no such function.
        """
        module, _, name = target.partition(":")
        if str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError, OSError, SyntaxError):  # the module is the user's
            raise ValueError(f"there is no function {target!r}; name it as module:function") from None
        if not callable(found):
            raise ValueError(f"{target!r} cannot be called")
        return cls(cast("Function", found), f"python:{target}")

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that calls the function for every turn."""
        return ResultAgent(self._answer)

    async def _answer(self, request: TurnRequest) -> TurnResult:
        started = perf_counter()
        given = await self._function(request)
        result = given if isinstance(given, TurnResult) else _result(request, given, perf_counter() - started)
        try:
            result.model_dump_json()
        except (PydanticSerializationError, UnicodeEncodeError):
            raise AgentFailed("the player returned text that cannot be written as UTF-8") from None
        return result


def _result(request: TurnRequest, answer: object, seconds: float) -> TurnResult:
    if not isinstance(answer, Mapping):
        raise AgentFailed(f"the player returned neither a TurnResult nor a mapping, but {type(answer).__name__}")
    given = cast("Mapping[str, Any]", answer)
    if not isinstance(given.get("text") or "", str):
        raise AgentFailed("the player returned a `text` that is no text")
    before = request.flow or Flow.empty()
    try:
        after = before if given.get("flow") is None else Flow.from_json(given["flow"])
        run = given.get("run")
        runs = [] if run is None else [RunResult.from_json(run)]
    except (FlowFormatError, KeyError, TypeError, ValueError) as error:
        raise AgentFailed(f"the player returned an unreadable flow or run: {error}") from None
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
