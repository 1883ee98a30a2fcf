"""From the wire to PydanticAI: messages, settings and request parameters."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

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
    Tool,
    ToolMessage,
    UserMessage,
)


def messages_of(wire: Sequence[Message]) -> list[ModelMessage]:
    """The conversation; consecutive messages to the model become one request.

    Raises:
        CallRefused: a piece that is not served, or a tool's answer to no call.
    """
    history: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    tools: dict[str, str] = {}
    for message in wire:
        if not isinstance(message, AssistantMessage):
            asked.append(_asked(message, tools))
            continue
        if asked:
            history.append(ModelRequest(parts=asked))
            asked = []
        tools |= {call.id: call.function.name for call in message.tool_calls or ()}
        history.append(ModelResponse(parts=_answered(message)))
    if asked:
        history.append(ModelRequest(parts=asked))
    return history


def _asked(message: SystemMessage | UserMessage | ToolMessage, tools: dict[str, str]) -> ModelRequestPart:
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


def _answered(message: AssistantMessage) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = []
    if message.content:
        parts.append(TextPart(_text(message.content)))
    calls = message.tool_calls or ()
    return [*parts, *(ToolCallPart(call.function.name, call.function.arguments or "{}", call.id) for call in calls)]


def _text(content: str | Sequence[Piece]) -> str:
    if isinstance(content, str):
        return content
    return "".join(
        piece.text if isinstance(piece, TextPiece) else "" if isinstance(piece, ImagePiece) else piece.refusal
        for piece in content
    )


def _content(piece: Piece) -> UserContent:
    """A piece of what the user says. Images by address are refused: the address would be a way out of the run."""
    if not isinstance(piece, ImagePiece):
        return _text([piece])
    head, comma, data = piece.image_url.url.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        raise invalid("An image must be sent as its data (a base64 data: address), not as an address.")
    try:
        return BinaryContent(base64.b64decode(data, validate=True), media_type=head[5:-7] or "image/png")
    except (binascii.Error, ValueError):
        raise invalid("The data of an image is not base64.") from None


def settings_of(wire: ChatRequest) -> ModelSettings:
    """How the model is to answer; a model passes over what its provider does not have."""
    settings = ModelSettings()
    if (most := wire.max_completion_tokens or wire.max_tokens) is not None:
        settings["max_tokens"] = most
    if wire.temperature is not None:
        settings["temperature"] = wire.temperature
    if wire.top_p is not None:
        settings["top_p"] = wire.top_p
    if wire.stop:
        settings["stop_sequences"] = [wire.stop] if isinstance(wire.stop, str) else wire.stop
    if wire.seed is not None:
        settings["seed"] = wire.seed
    if wire.presence_penalty is not None:
        settings["presence_penalty"] = wire.presence_penalty
    if wire.frequency_penalty is not None:
        settings["frequency_penalty"] = wire.frequency_penalty
    if wire.logit_bias is not None:
        settings["logit_bias"] = wire.logit_bias
    if wire.tools and wire.parallel_tool_calls is not None:
        settings["parallel_tool_calls"] = wire.parallel_tool_calls
    if wire.tools and wire.tool_choice not in (None, "auto"):
        choice = wire.tool_choice
        settings["tool_choice"] = [choice.function.name] if isinstance(choice, NamedTool) else choice
    return settings


def parameters_of(wire: ChatRequest, model: Model) -> ModelRequestParameters:
    """The tools, and the form of the answer: in the provider's own way where the model has one, else by asking for it.

    Raises:
        CallRefused: the tool that must be called is not among the tools.
    """
    tools = [_definition(tool) for tool in wire.tools or ()]
    if isinstance(wire.tool_choice, NamedTool) and wire.tool_choice.function.name not in {each.name for each in tools}:
        raise invalid(f"There is no tool {wire.tool_choice.function.name!r} to choose.")
    forced = bool(tools) and (wire.tool_choice == "required" or isinstance(wire.tool_choice, NamedTool))
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=not forced)
    match wire.response_format:
        case SchemaFormat(json_schema=form):
            schema = form.schema_ or {"type": "object"}
            parameters.output_mode = "native" if _writes_schemas(model) else "prompted"
            parameters.output_object = OutputObjectDefinition(
                json_schema=schema, name=form.name, description=form.description, strict=form.strict
            )
        case ObjectFormat():
            parameters.output_mode = "prompted"
            parameters.output_object = OutputObjectDefinition(json_schema={"type": "object"})
        case _:
            pass
    return parameters


def _definition(tool: Tool) -> ToolDefinition:
    function = tool.function
    return ToolDefinition(
        name=function.name,
        description=function.description,
        parameters_json_schema=function.parameters or {"type": "object", "properties": {}},
        strict=function.strict,
    )


def _writes_schemas(model: Model) -> bool:
    """Whether the model, and every candidate behind it, can be held to a schema by its provider."""
    if isinstance(model, FallbackModel):
        return all(_writes_schemas(each) for each in model.models)
    if isinstance(model, WrapperModel):
        return _writes_schemas(model.wrapped)
    return bool(model.profile.get("supports_json_schema_output", False))
