"""Models that follow a plan in code: the demo planner, and scripts for the harness and tests."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

from pydantic_ai import ModelMessage, ModelResponse, RunContext, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from agent.models.light import reading_batches_later, without_prices

with reading_batches_later():
    from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

Plan = Callable[[list[ModelMessage], AgentInfo], ModelResponse]
"""Returns the next response to the messages so far."""

_NO_CONTEXT = ModelProfile(supports_json_schema_output=True, supports_json_object_output=True, context_window=None)
"""A function model's own profile, without the look-up of a context's size in the list of prices."""


class _FreeModel(FunctionModel):
    """A function model whose responses cost nothing, so that PydanticAI loads no list of prices to look it up in."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The plan's response."""
        response = await super().request(messages, model_settings, model_request_parameters)
        response.usage.cost = Decimal(0)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The plan's response in pieces."""
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as response:
            response.usage.cost = Decimal(0)  # what the pieces add leaves it as it is
            yield response


def scripted(plan: Plan, name: str, *, free: bool = False) -> FunctionModel:
    """Return a model that answers according to a plan, streamed or not.

    Args:
        plan: a pure function from the messages so far to the next response, made of text and tool calls.
        name: the model's name in results and logs.
        free: whether its answers cost nothing. What a plan costs that stands for a model is unknown.
    """

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(plan(messages, info).parts):
            if isinstance(part, ToolCallPart):
                arguments = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                for piece in _pieces(part.content):
                    yield piece

    if not free:
        return FunctionModel(plan, stream_function=stream, model_name=name)
    with without_prices():
        return _FreeModel(plan, stream_function=stream, model_name=name, profile=_NO_CONTEXT)


def last_prompt(messages: list[ModelMessage]) -> str:
    """Return the text of the last user prompt."""
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, UserPromptPart) and isinstance(part.content, str):
                return part.content
    return ""


def tool_returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    """Return the tools' answers since the last user prompt, in order."""
    found: list[ToolReturnPart] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                found.clear()
            elif isinstance(part, ToolReturnPart):
                found.append(part)
    return found


def call(tool: str, step: int, /, turn: int = 1, **arguments: object) -> ToolCallPart:
    """Return a tool call whose id is the same in every play and unique within its conversation.

    Args:
        tool: the tool's name.
        step: the number of the call within the turn.
        turn: the number of the turn within the conversation.
        **arguments: the tool's arguments.
    """
    return ToolCallPart(tool, arguments, tool_call_id=f"call_{turn}_{step}_{tool}")


def _pieces(text: str) -> list[str]:
    """Split a text into pieces of a few words, as a model would stream it."""
    words = text.split(" ")
    return [
        " ".join(words[start : start + 6]) + (" " if start + 6 < len(words) else "")
        for start in range(0, len(words), 6)
    ]
