"""An assistant whose model follows a script, and its turns played to their results."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_ai import Agent, CustomEvent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.toolsets import AbstractToolset

from agent.assistant import Assistant
from agent.conversation.memory import Memory
from agent.models.scripted import last_prompt, tool_returns
from agent.prompts.frames import unframed
from agent.turn.request import TurnRequest
from agent.turn.result import Intent, TurnEnded, TurnEvent, TurnResult
from evals.players.reading import classification, full_mandate
from flows.catalogue import Catalogue
from flows.document import Flow
from server.settings import ServerSettings
from tests.shared.stand_ins import StandInRunner
from tools.workbench import Workbench

Reply = str | ToolCallPart | Exception | Sequence[ToolCallPart | TextPart]
"""A text, a tool call, the parts of a response, or an exception, which this and every later request raises."""

Step = Reply | Callable[[list[ModelMessage], AgentInfo], Reply]
"""A reply, or a function that chooses it from the request."""

PIECE = 40
"""How many characters of a text are streamed at a time."""


class ScriptedModel(FunctionModel):
    """A model that gives its replies in turn, the classification first, and records its requests.

    A classification that says nothing of a mandate stands for one by which the script does what the user asks for.

    Args:
        replies: what it answers.
        blocks_at: the index of a reply that is held back until `released` is set.
        name: the model's name in results and logs.

    Attributes:
        replies: those that are left.
        requests: the messages of every request.
        prompts: the last user prompt of every request.
        tools: the names of the function tools of every request.
        request_settings: the model settings of every request.
        blocked: set once the blocking reply is requested.
        blocks_at: the index of that reply; it may be set later.
        released: lets the blocking reply go.
        cancelled: set when the blocking request is cancelled.
    """

    def __init__(self, *replies: Step, blocks_at: int | None = None, name: str = "scripted") -> None:
        super().__init__(self._respond, stream_function=self._stream, model_name=name)
        self.replies = list(replies)
        self.requests: list[list[ModelMessage]] = []
        self.prompts: list[str] = []
        self.tools: list[set[str]] = []
        self.request_settings: list[dict[str, Any]] = []
        self.blocked, self.released, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.blocks_at, self._given = blocks_at, 0

    def tool_answers(self, request: int) -> list[str]:
        """What the tools had answered when a request was made."""
        return [unframed(str(part.content)) for part in tool_returns(self.requests[request])]

    async def _next(self, messages: list[ModelMessage], info: AgentInfo) -> list[ToolCallPart | TextPart]:
        self.requests.append(list(messages))
        self.prompts.append(last_prompt(messages))
        self.tools.append({tool.name for tool in info.function_tools})
        self.request_settings.append(dict(info.model_settings or {}))
        if self._given == self.blocks_at:
            self.blocked.set()
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        self._given += 1
        assert self.replies, "the script has no more replies"
        step = self.replies[0] if isinstance(self.replies[0], Exception) else self.replies.pop(0)
        reply = step(messages, info) if callable(step) else step
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return [TextPart(reply if info.function_tools else _with_mandate(reply, self.prompts[-1]))]
        return [reply] if isinstance(reply, ToolCallPart) else list(reply)

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=await self._next(messages, info))

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(await self._next(messages, info)):
            if isinstance(part, TextPart):
                for start in range(0, max(1, len(part.content)), PIECE):
                    yield part.content[start : start + PIECE]
            else:
                arguments = part.args_as_json_str()
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}


_ANSWER: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])


def _with_mandate(answer: str, message: str) -> str:
    if answer in get_args(Intent):
        return classification(answer, message)
    try:
        given = _ANSWER.validate_json(answer)
    except ValueError:
        return answer
    if "intent" not in given or "mandate" in given:
        return answer
    words = f"{message} {given.get('english', '')}"
    return json.dumps(given | {"mandate": full_mandate(str(given["intent"]), words)})


def assistant(
    catalogue: Catalogue,
    model: Model | None = None,
    runner: StandInRunner | None = None,
    memory: Memory | None = None,
    **settings: Any,
) -> Assistant:
    """An assistant with a model (or the demo planner) and a stand-in engine.

    Args:
        catalogue: the component types.
        model: answers every request.
        runner: runs flows.
        memory: keeps conversations.
        settings: of the assistant.
    """
    return Assistant(
        ServerSettings(**settings), runner or StandInRunner(), catalogue=catalogue, model=model, memory=memory
    )


def scripted_assistant(
    catalogue: Catalogue,
    *replies: Step,
    runner: StandInRunner | None = None,
    memory: Memory | None = None,
    **settings: Any,
) -> tuple[Assistant, ScriptedModel]:
    """An assistant that follows a script, the classification first, and its model."""
    model = ScriptedModel(*replies)
    return assistant(catalogue, model, runner, memory, **settings), model


async def call_tools(
    bench: Workbench, toolsets: Sequence[AbstractToolset[Workbench]], *calls: ToolCallPart
) -> tuple[list[ToolReturnPart], list[CustomEvent]]:
    """Call tools one after the other: what they answer, and the events that they emit."""
    model = ScriptedModel(*calls, "done")
    agent = Agent(model, deps_type=Workbench, toolsets=toolsets)
    async with agent.run_stream_events("go", deps=bench) as stream:
        events = [event async for event in stream if isinstance(event, CustomEvent)]
    return tool_returns(model.requests[-1]), events


async def play(who: Assistant, text: str = "", flow: Flow | None = None, **request: Any) -> TurnResult:
    """One turn, to its result."""
    return (await play_all(who, text, flow, **request))[1]


async def play_all(
    who: Assistant, text: str = "", flow: Flow | None = None, **request: Any
) -> tuple[list[TurnEvent], TurnResult]:
    """One turn: its events, and its result."""
    async with who.turn(TurnRequest(text=text, flow=flow, **request)) as stream:
        events = [event async for event in stream]
    await who.database.aclose()  # the next turn opens it again; a test's event loop ends without closing it
    assert sum(isinstance(event, TurnEnded) for event in events) == 1
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return events, last.result
