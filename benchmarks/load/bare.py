"""The bare PydanticAI loop: it makes the model requests of one of our turns, and nothing around them.

What our turn asks of its model is recorded once: messages, instructions, settings and tools, and what they answered. A
plain agent then makes the same requests; a tool that builds a flow builds, checks and runs it, and every tool answers
as ours did.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pydantic_ai import (
    Agent,
    AgentRunResultEvent,
    AgentStreamEvent,
    ModelMessage,
    ModelResponse,
    TextPart,
    Tool,
    ToolCallPart,
)
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.toolsets import FunctionToolset

from runtime.options import RunOptions
from scripts.scripted_provider import Reply
from tools.workbench import FlowRunner
from wirewright import Catalogue, build, check

PIECE = 24
"""Characters of an answer that come at once."""

CACHED = ModelSettings(cache=True)
"""The one setting that is not recorded: each model makes of it what its provider knows."""

Act: TypeAlias = Callable[..., Any]

Part = TypeVar("Part", ToolReturnPart, UserPromptPart)


@dataclass
class ScriptedModel:
    """A model of no latency: the first run of a turn classifies, the second one has tools.

    Args:
        replies: what it says in the second run, in order.
        intent: what it says in the first.

    Attributes:
        asked: the first request of each run, as it was asked last.
        answered: what each tool answered last, by its name.
    """

    replies: Sequence[Reply]
    intent: Reply
    asked: dict[str, tuple[list[ModelMessage], AgentInfo]] = field(
        default_factory=dict[str, tuple[list[ModelMessage], AgentInfo]]
    )
    answered: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def model(self) -> FunctionModel:
        """The model."""
        return FunctionModel(self._whole, stream_function=self._pieces, model_name="scripted")

    def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> Reply:
        if not info.function_tools:
            self.asked["classification"] = messages, info
            return self.intent
        said = sum(isinstance(message, ModelResponse) for message in messages)
        if not said:
            self.asked["agent"] = messages, info
        self.answered |= {part.tool_name: part.model_response_str() for part in _parts(messages, ToolReturnPart)}
        return self.replies[said]

    def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = self._reply(messages, info)
        calls = [ToolCallPart(name, arguments) for name, arguments in reply.calls]
        return ModelResponse(parts=[*([TextPart(reply.text)] if reply.text else []), *calls])

    async def _pieces(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        reply = self._reply(messages, info)
        for start in range(0, len(reply.text), PIECE):
            yield reply.text[start : start + PIECE]
        for index, (name, arguments) in enumerate(reply.calls):
            yield {index: DeltaToolCall(name=name, json_args=json.dumps(arguments), tool_call_id=f"call_{index}")}


class BareLoop:
    """Plain agents that ask what a turn of ours has asked.

    Args:
        script: the model, which one of our turns has just used.
        catalogue: what flows are built of.
        runner: runs what is built; None where nothing is.
        model: answers instead of the script.
    """

    def __init__(
        self,
        script: ScriptedModel,
        catalogue: Catalogue,
        runner: FlowRunner | None = None,
        model: Model | None = None,
    ) -> None:
        self._model = model or script.model
        self._classification, asked = script.asked["classification"]
        self._classified_with = asked.model_settings
        messages, info = script.asked["agent"]
        self._prompt = _prompt(messages)
        tools = [
            Tool.from_schema(
                _act(tool.name, script.answered.get(tool.name, "Done."), catalogue, runner),
                tool.name,
                tool.description,
                tool.parameters_json_schema,
            )
            for tool in info.function_tools
        ]
        self._agent = Agent(
            self._model,
            deps_type=object,
            instructions=info.instructions,
            toolsets=[FunctionToolset(tools)],
            model_settings=merge_model_settings(info.model_settings, CACHED),
        )

    async def events(self) -> AsyncGenerator[AgentStreamEvent | AgentRunResultEvent[str]]:
        """Make the requests of one turn; the events of the agent."""
        await model_request(self._model, self._classification, model_settings=self._classified_with)
        async with self._agent.run_stream_events(self._prompt) as stream:
            async for event in stream:
                yield event

    async def turn(self) -> int:
        """Make the requests of one turn; returns how many events came."""
        return len([event async for event in self.events()])


def _parts(messages: Sequence[ModelMessage], kind: type[Part]) -> Iterator[Part]:
    requests = (message for message in messages if isinstance(message, ModelRequest))
    return (part for request in requests for part in request.parts if isinstance(part, kind))


def _prompt(messages: Sequence[ModelMessage]) -> str:
    return "\n\n".join(str(part.content) for part in _parts(messages, UserPromptPart))


def _act(name: str, answer: str, catalogue: Catalogue, runner: FlowRunner | None) -> Act:
    """What a tool does."""

    async def build_flow(spec: str, **_: object) -> str:
        built = build(spec, catalogue)
        assert built.flow is not None, built.faults
        check(built.flow, catalogue)
        if runner is not None:
            ran = await runner.execute(built.flow, "hello", RunOptions(network="gateway-only"))
            assert ran.ok, ran.error
        return answer

    async def answers(**_: object) -> str:
        return answer

    return build_flow if name == "build_flow" else answers
