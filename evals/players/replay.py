"""Replay: a journal's recorded responses, played again with the current tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeGuard

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.function import AgentInfo

from agent.assistant import Assistant
from agent.models.scripted import scripted
from agent.prompts.frames import framed_result, unframed
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent, TurnResult
from evals.attempt import Attempt
from evals.journal import latest_attempts, read_journal
from evals.play.addresses import with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, Unplayable
from evals.players.reading import classification
from evals.scenario import Scenario


class ReplayPlayer:
    """Plays the responses that a journal has of each scenario, repeat and step.

    An attempt fails as soon as a tool's reply differs from the recorded one.
    """

    def __init__(self, attempts: Iterable[Attempt], name: str = "replay") -> None:
        self.name = name
        self._recorded = {
            (attempt.scenario, attempt.digest, attempt.repeat): attempt
            for attempt in latest_attempts(attempts).values()
        }

    @classmethod
    def of(cls, path: Path) -> ReplayPlayer:
        """The replay of a journal.

        Raises:
            JsonLinesError: at a line that is not an attempt.
        """
        return cls(read_journal(path), f"replay:{path.name}")

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent with the recorded responses of one attempt.

        Raises:
            Unplayable: this version of the scenario was not recorded, or without its messages.
        """
        recorded = self._recorded.get((scenario.id, environment.digest, environment.repeat))
        if recorded is None:
            raise Unplayable(
                f"{scenario.id} #{environment.repeat + 1} was not recorded, or the scenario has changed since"
            )
        if not any(turn.messages for turn in recorded.turns):
            raise Unplayable(f"{scenario.id} #{environment.repeat + 1} was recorded without its messages")
        return _ReplayAgent(recorded, environment)


class _ReplayAgent:
    """One attempt: the recorded turns in order, each request answered with the recorded response of its step."""

    def __init__(self, recorded: Attempt, environment: PlayEnvironment) -> None:
        self._turns = iter(recorded.turns)
        self._turn: TurnResult | None = None
        self._responses: list[ModelResponse] = []
        self._replies: list[list[str]] = []
        self._step = 0
        self._differs: str | None = None
        self._addresses = recorded.services, environment.services
        model = scripted(self._respond, "replay")
        self._assistant = Assistant(
            environment.settings, environment.runner, catalogue=environment.catalogue, model=model
        )

    @asynccontextmanager
    async def turn(self, request: TurnRequest) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
        """The next turn."""
        turn = next(self._turns, None)
        if turn is None:
            raise Unplayable("the record has no more turns")
        before, self._turn = self._turn, turn
        self._responses = [message for message in turn.messages if isinstance(message, ModelResponse)]
        self._replies = [_replies(message) for message in turn.messages if isinstance(message, ModelRequest)]
        self._step = _already_given(before, self._responses)
        async with self._assistant.turn(request) as events:
            yield events
        if self._differs is not None:
            raise Unplayable(self._differs)

    async def aclose(self) -> None:
        """Close the assistant's connections."""
        await self._assistant.aclose()

    def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert self._turn is not None  # noqa: S101 - a turn has begun
        if not info.function_tools:
            made = (part for response in self._responses for part in response.parts if isinstance(part, ToolCallPart))
            runs: dict[str, list[str]] = {"run": []} if any(part.tool_name == "run_flow" for part in made) else {}
            return ModelResponse(parts=[TextPart(classification(self._turn.intent, "", runs))])
        self._compare(messages)
        if self._differs is not None or self._step >= len(self._responses):
            self._differs = self._differs or f"the record has no response to step {self._step + 1}"
            return ModelResponse(parts=[TextPart("The replay ends here.")])
        self._step += 1
        return self._current(self._responses[self._step - 1])

    def _compare(self, messages: Sequence[ModelMessage]) -> None:
        if not self._step:
            return
        replies = self._replies[self._step] if self._step < len(self._replies) else []
        recorded = [with_other_addresses(text, *self._addresses) for text in replies]
        last = messages[-1]
        current = _replies(last) if isinstance(last, ModelRequest) else []
        if current != recorded:
            self._differs = f"at step {self._step + 1} the tools answered differently than recorded"

    def _current(self, response: ModelResponse) -> ModelResponse:
        """A recorded response with the addresses that the services have now."""
        if not self._addresses[0]:
            return response
        text = ModelMessagesTypeAdapter.dump_json([response]).decode()
        (current,) = ModelMessagesTypeAdapter.validate_json(with_other_addresses(text, *self._addresses))
        return current if isinstance(current, ModelResponse) else response


def _already_given(before: TurnResult | None, responses: Sequence[ModelResponse]) -> int:
    """How many of a turn's responses the turn before gave, which it goes on with after an approval."""
    if before is None or before.outcome != "pending":
        return 0
    given = [message.parts for message in before.messages if isinstance(message, ModelResponse)]
    return len(given) if [response.parts for response in responses[: len(given)]] == given else 0


def _replies(message: ModelRequest) -> list[str]:
    """The replies of tools in a request, in order, whether they are framed or not."""
    found = (part.content for part in message.parts if isinstance(part, ToolReturnPart))
    return [unframed(one) if _is_framed(one) else unframed(framed_result("tool", one)) for one in found]


def _is_framed(content: object) -> TypeGuard[str]:
    return isinstance(content, str) and unframed(content) != content
