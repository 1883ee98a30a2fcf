"""A Python callable as a player: it takes a turn's request and returns a result, or a flow and a text."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, TypeAlias, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.attempt import AgentIdentity
from evals.named_function import FunctionUnavailable, named_function
from evals.play.environment import PlayEnvironment
from evals.players.answer import Answer, read_answer
from evals.players.player import Agent, AgentFailed, ResultAgent
from evals.scenario import Scenario

Function: TypeAlias = Callable[[TurnRequest], Awaitable[Answer]]

IDENTITY = "AGENT"
"""The name in a player's module that says what the agent is: `{"name": …, "version": …}`."""


class FunctionPlayer:
    """Plays with an asynchronous function.

    Args:
        function: takes a request.
        name: of the player.
        identity: what the agent says it is.
    """

    def __init__(self, function: Function, name: str, identity: AgentIdentity | None = None) -> None:
        self._function = function
        self.name = name
        self._identity = identity

    @classmethod
    def named(cls, target: str) -> FunctionPlayer:
        """The player of the function `module:function`, of an installed module or one in the working folder.

        Raises:
            FunctionUnavailable: there is no such function, or its module says of the agent what cannot be read.
        """
        function = named_function(target)
        return cls(function, f"python:{target}", _identity(target.partition(":")[0]))

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that calls the function for every turn."""
        return ResultAgent(self._answer, self._identity)

    async def _answer(self, request: TurnRequest) -> TurnResult:
        started = perf_counter()
        called: object = self._function(request)
        if not inspect.isawaitable(called):
            raise AgentFailed("the player is not an async function: write `async def`")
        given = cast("object", await called)
        result = read_answer(request, given, perf_counter() - started)
        try:
            result.model_dump_json()
        except (PydanticSerializationError, UnicodeEncodeError):
            raise AgentFailed("the player returned text that cannot be written as UTF-8") from None
        return result


def _identity(module: str) -> AgentIdentity | None:
    given: Any = getattr(sys.modules.get(module), IDENTITY, None)
    if given is None:
        return None
    try:
        return AgentIdentity.model_validate(dict(cast("Mapping[str, object]", given)))
    except (ValidationError, TypeError, ValueError):
        form = '{"name": "my-agent", "version": "1.0"}'
        raise FunctionUnavailable(f"{module}.{IDENTITY} cannot be read; write it as {form}.") from None
