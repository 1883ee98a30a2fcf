"""Models that follow a plan in code: the demo planner, and scripts for the harness and tests."""

import json
from collections.abc import AsyncIterator, Callable

from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import UserPromptPart

from agent.models.light import reading_batches_later

with reading_batches_later():
    from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

Plan = Callable[[list[ModelMessage], AgentInfo], ModelResponse]
"""Returns the next response to the messages so far."""


def scripted(plan: Plan, name: str) -> FunctionModel:
    """Return a model that answers according to a plan, streamed or not.

    Args:
        plan: a pure function from the messages so far to the next response, made of text and tool calls.
        name: the model's name in results and logs.
    """

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(plan(messages, info).parts):
            if isinstance(part, ToolCallPart):
                arguments = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                for piece in _pieces(part.content):
                    yield piece

    return FunctionModel(plan, stream_function=stream, model_name=name)


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
