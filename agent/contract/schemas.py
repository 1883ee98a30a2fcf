"""How JSON schemas are made of the models of the contract."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import (
    DataclassField,
    ModelField,
    TaggedUnionSchema,
    TypedDictField,
    WithDefaultSchema,
)


class AsReceived(GenerateJsonSchema):
    """The schema of what clients receive: every key is there unless it is left out; defaults are for Python."""

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:  # noqa: FBT001 - pydantic's signature
        if field["type"] == "typed-dict-field":
            return super().field_is_required(field, total)
        return field.get("serialization_exclude_if") is None

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def tagged_union_schema(self, schema: TaggedUnionSchema) -> JsonSchemaValue:
        """The union; a field that leads to a union of its own, and not to one schema, is no discriminator."""
        made = super().tagged_union_schema(schema)
        targets = made.get("discriminator", {}).get("mapping", {}).values()
        if not all(isinstance(target, str) for target in targets):
            del made["discriminator"]
        return made


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
