"""The requests of OpenAI's Chat Completions and Embeddings interfaces, as far as flows use them.

What is not named here (`seed`, `user`, `store` …) is ignored, as OpenAI-compatible servers do.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPiece(_Wire):
    """Text among the pieces of a message."""

    type: Literal["text"]
    text: str


class RefusalPiece(_Wire):
    """What a model once refused with, in its own words."""

    type: Literal["refusal"]
    refusal: str


class ImageAddress(_Wire):
    """Where an image is; only `data:` addresses are served."""

    url: str


class ImagePiece(_Wire):
    """An image among the pieces of a message."""

    type: Literal["image_url"]
    image_url: ImageAddress


Piece = Annotated[TextPiece | RefusalPiece | ImagePiece, Field(discriminator="type")]


class CalledFunction(_Wire):
    """The function of a tool call; `arguments` is the JSON text that the model wrote."""

    name: str
    arguments: str = ""


class CalledTool(_Wire):
    """A tool call in an earlier answer."""

    id: str
    function: CalledFunction


class SystemMessage(_Wire):
    """What the application says."""

    role: Literal["system", "developer"]
    content: str | list[TextPiece]


class UserMessage(_Wire):
    """What the user says."""

    role: Literal["user"]
    content: str | list[Piece]


class AssistantMessage(_Wire):
    """An earlier answer of the model."""

    role: Literal["assistant"]
    content: str | list[Piece] | None = None
    tool_calls: list[CalledTool] | None = None


class ToolMessage(_Wire):
    """What a tool gave back."""

    role: Literal["tool"]
    tool_call_id: str
    content: str | list[TextPiece]


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Function(_Wire):
    """A function that the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(_Wire):
    """A tool that the model may call."""

    type: Literal["function"] = "function"
    function: Function


class NamedFunction(_Wire):
    """The name of a function."""

    name: str


class NamedTool(_Wire):
    """The one tool that the model must call."""

    type: Literal["function"] = "function"
    function: NamedFunction


class JsonSchema(_Wire):
    """The schema that an answer must follow."""

    name: str = "answer"
    description: str | None = None
    schema_: dict[str, Any] = Field(default_factory=dict[str, Any], alias="schema")
    strict: bool | None = None


class TextFormat(_Wire):
    """An answer without a form."""

    type: Literal["text"]


class ObjectFormat(_Wire):
    """An answer that is some JSON object."""

    type: Literal["json_object"]


class SchemaFormat(_Wire):
    """An answer that follows a schema."""

    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[TextFormat | ObjectFormat | SchemaFormat, Field(discriminator="type")]


class StreamOptions(_Wire):
    """What a stream holds besides the answer."""

    include_usage: bool = False


class ChatRequest(_Wire):
    """A request to `chat/completions`."""

    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
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
    """A request to `embeddings`; texts only, since token numbers mean nothing to another provider's model."""

    model: str
    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
