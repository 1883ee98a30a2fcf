"""Converts requests to PydanticAI's messages, settings and request parameters."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import cast

from pydantic_ai import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from runtime.gateway.errors import invalid
from runtime.gateway.requests import (
    AssistantMessage,
    ChatRequest,
    ImagePiece,
    Message,
    NamedTool,
    ObjectFormat,
    Piece,
    SchemaFormat,
    SystemMessage,
    TextPiece,
    ToolMessage,
    UserMessage,
)


def messages_of(wire: Sequence[Message]) -> list[ModelMessage]:
    """The conversation; consecutive messages to the model become one request.

    Raises:
        CallRefused: a piece is not served, or a tool message answers no call.
    """
    history: list[ModelMessage] = []
    tools: dict[str, str] = {}
    for message in wire:
        if isinstance(message, AssistantMessage):
            tools |= {call.id: call.name for call in message.tool_calls or ()}
            history.append(ModelResponse(parts=_response_parts(message)))
        elif history and isinstance(history[-1], ModelRequest):
            history[-1].parts = [*history[-1].parts, _request_part(message, tools)]
        else:
            history.append(ModelRequest(parts=[_request_part(message, tools)]))
    return history


def _request_part(message: SystemMessage | UserMessage | ToolMessage, tools: dict[str, str]) -> ModelRequestPart:
    match message:
        case SystemMessage():
            return SystemPromptPart(_text(message.content))
        case UserMessage(content=content):
            return UserPromptPart(content if isinstance(content, str) else [_content(piece) for piece in content])
        case ToolMessage():
            name = tools.get(message.tool_call_id)
            if name is None:
                raise invalid(f"The tool message for {message.tool_call_id!r} answers no call before it.")
            return ToolReturnPart(name, _text(message.content), message.tool_call_id)


def _response_parts(message: AssistantMessage) -> list[ModelResponsePart]:
    texts = [TextPart(_text(message.content))] if message.content else []
    calls = message.tool_calls or ()
    return [*texts, *(ToolCallPart(call.name, call.arguments or "{}", call.id) for call in calls)]


def _text(content: str | Sequence[Piece]) -> str:
    if isinstance(content, str):
        return content
    return "".join(
        piece.text if isinstance(piece, TextPiece) else "" if isinstance(piece, ImagePiece) else piece.refusal
        for piece in content
    )


def _content(piece: Piece) -> UserContent:
    """A piece of a user message. An image by address is refused: fetching it would let data out of the run."""
    if not isinstance(piece, ImagePiece):
        return _text([piece])
    head, comma, data = piece.url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise invalid("An image must be sent as its data (a base64 data: address), not as an address.")
    try:
        return BinaryContent(base64.b64decode(data, validate=True), media_type=head[5:-7] or "image/png")
    except (binascii.Error, ValueError):
        raise invalid("The data of an image is not base64.") from None


_SAME_SETTINGS = {"temperature", "top_p", "seed", "presence_penalty", "frequency_penalty", "logit_bias"}
"""Settings with the same name and meaning in PydanticAI."""


def settings_of(wire: ChatRequest) -> ModelSettings:
    """How the model is to answer; a model ignores what its provider does not support."""
    settings = cast("ModelSettings", wire.model_dump(include=_SAME_SETTINGS, exclude_none=True))
    if (limit := wire.max_completion_tokens or wire.max_tokens) is not None:
        settings["max_tokens"] = limit
    if wire.stop:
        settings["stop_sequences"] = [wire.stop] if isinstance(wire.stop, str) else wire.stop
    if wire.tools and wire.parallel_tool_calls is not None:
        settings["parallel_tool_calls"] = wire.parallel_tool_calls
    if wire.tools and wire.tool_choice not in (None, "auto"):
        choice = wire.tool_choice
        settings["tool_choice"] = [choice.name] if isinstance(choice, NamedTool) else choice
    return settings


def parameters_of(wire: ChatRequest, model: Model) -> ModelRequestParameters:
    """The tools and the format of the answer: enforced by the provider if it supports that, otherwise by the prompt.

    Raises:
        CallRefused: the tool that must be called is not among the tools.
    """
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.parameters or {"type": "object", "properties": {}},
            strict=tool.strict,
        )
        for tool in wire.tools or ()
    ]
    if isinstance(wire.tool_choice, NamedTool) and wire.tool_choice.name not in {tool.name for tool in tools}:
        raise invalid(f"There is no tool {wire.tool_choice.name!r} to choose.")
    forced = bool(tools) and (wire.tool_choice == "required" or isinstance(wire.tool_choice, NamedTool))
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=not forced)
    match wire.response_format:
        case SchemaFormat(json_schema=form):
            schema = form.schema_ or {"type": "object"}
            parameters.output_mode = "native" if _supports_schemas(model) else "prompted"
            parameters.output_object = OutputObjectDefinition(
                json_schema=schema, name=form.name, description=form.description, strict=form.strict
            )
        case ObjectFormat():
            parameters.output_mode = "prompted"
            parameters.output_object = OutputObjectDefinition(json_schema={"type": "object"})
        case _:
            pass
    return parameters


def _supports_schemas(model: Model) -> bool:
    """Whether the providers of the model, and of every candidate behind it, can enforce a schema."""
    if isinstance(model, FallbackModel):
        return all(map(_supports_schemas, model.models))
    if isinstance(model, WrapperModel):
        return _supports_schemas(model.wrapped)
    return bool(model.profile.get("supports_json_schema_output", False))
