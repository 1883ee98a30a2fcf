"""How JSON schemas are made of the models of the contract."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DataclassField, ModelField, TypedDictField, WithDefaultSchema


class AsReceived(GenerateJsonSchema):
    """The schema of what clients receive: every key is there unless it is left out; defaults are for Python."""

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:  # noqa: FBT001 - pydantic's signature
        if field["type"] == "typed-dict-field":
            return super().field_is_required(field, total)
        return field.get("serialization_exclude_if") is None

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


class AsExchanged(AsReceived):
    """The schemas of both directions in one document: of what clients send, and of what they receive."""

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:  # noqa: FBT001 - pydantic's signature
        if self.mode == "serialization":
            return super().field_is_required(field, total)
        return GenerateJsonSchema.field_is_required(self, field, total)

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        if self.mode == "serialization":
            return super().default_schema(schema)
        return GenerateJsonSchema.default_schema(self, schema)
