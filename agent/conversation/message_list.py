"""The agent's messages as a field of our models, without a copy of PydanticAI's schema in each of them."""

from typing import Annotated, Any, TypeAlias, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_ai import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_core import core_schema, to_json


class _SharedSchema:
    """Validates and writes messages with PydanticAI's own adapter, whose schema is built once and when it is needed."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """The schema that calls the adapter."""
        return core_schema.with_info_plain_validator_function(
            _validated, serialization=core_schema.plain_serializer_function_ser_schema(_written, info_arg=True)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The adapter's own JSON schema."""
        return handler(ModelMessagesTypeAdapter.core_schema)


def _validated(given: object, info: core_schema.ValidationInfo) -> list[ModelMessage]:
    if isinstance(given, list):
        items = cast("list[object]", given)
        messages = [each for each in items if isinstance(each, ModelRequest | ModelResponse)]
        if len(messages) == len(items):
            return [*messages]
    if info.mode == "json":  # in JSON, bytes are Base64
        return ModelMessagesTypeAdapter.validate_json(to_json(given))
    return ModelMessagesTypeAdapter.validate_python(given)


def _written(messages: list[ModelMessage], info: core_schema.SerializationInfo) -> object:
    return messages and ModelMessagesTypeAdapter.dump_python(messages, mode="json" if info.mode_is_json() else "python")


MessageList: TypeAlias = Annotated[list[ModelMessage], _SharedSchema()]
"""Messages, in order; they survive a JSON round trip."""
