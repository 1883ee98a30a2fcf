"""Requests of OpenAI's Chat Completions and Embeddings APIs, as far as flows use them.

Fields that are not listed here (`user`, `store` …) are ignored, as OpenAI-compatible servers do.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasPath, BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPiece(_Wire):
    """A text within a message."""

    type: Literal["text"]
    text: str


class RefusalPiece(_Wire):
    """An earlier refusal of the model."""

    type: Literal["refusal"]
    refusal: str


class ImagePiece(_Wire):
    """An image within a message; only `data:` addresses are served."""

    type: Literal["image_url"]
    url: str = Field(validation_alias=AliasPath("image_url", "url"))


Piece = Annotated[TextPiece | RefusalPiece | ImagePiece, Field(discriminator="type")]


class ToolCall(_Wire):
    """A tool call in an earlier answer; `arguments` is the JSON text that the model wrote."""

    id: str
    name: str = Field(validation_alias=AliasPath("function", "name"))
    arguments: str = Field("", validation_alias=AliasPath("function", "arguments"))


class SystemMessage(_Wire):
    """Instructions of the application."""

    role: Literal["system", "developer"]
    content: str | list[TextPiece]


class UserMessage(_Wire):
    """A message of the user."""

    role: Literal["user"]
    content: str | list[Piece]


class AssistantMessage(_Wire):
    """An earlier answer of the model."""

    role: Literal["assistant"]
    content: str | list[Piece] | None = None
    tool_calls: list[ToolCall] | None = None


class ToolMessage(_Wire):
    """The result of a tool call."""

    role: Literal["tool"]
    tool_call_id: str
    content: str | list[TextPiece]


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Tool(_Wire):
    """A function that the model may call."""

    name: str = Field(validation_alias=AliasPath("function", "name"))
    description: str | None = Field(None, validation_alias=AliasPath("function", "description"))
    parameters: dict[str, Any] | None = Field(None, validation_alias=AliasPath("function", "parameters"))
    strict: bool | None = Field(None, validation_alias=AliasPath("function", "strict"))


class NamedTool(_Wire):
    """The one function that the model must call."""

    name: str = Field(validation_alias=AliasPath("function", "name"))


class TextFormat(_Wire):
    """An answer in free text."""

    type: Literal["text"]


class ObjectFormat(_Wire):
    """An answer that is any JSON object."""

    type: Literal["json_object"]


class JsonSchema(_Wire):
    """The schema that an answer must follow."""

    name: str = "answer"
    description: str | None = None
    schema_: dict[str, Any] = Field(default_factory=dict[str, Any], alias="schema")
    strict: bool | None = None


class SchemaFormat(_Wire):
    """An answer that follows a schema."""

    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[TextFormat | ObjectFormat | SchemaFormat, Field(discriminator="type")]


class ChatRequest(_Wire):
    """A request to `chat/completions`."""

    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    include_usage: bool = Field(default=False, validation_alias=AliasPath("stream_options", "include_usage"))
    tools: list[Tool] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: dict[str, int] | None = None
    n: Literal[1] | None = None


class EmbeddingsRequest(_Wire):
    """A request to `embeddings`; only texts, because token numbers are specific to a provider's model."""

    model: str
    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
