"""Schemas that are rewritten once."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelProfile, UserError
from pydantic_ai.models import Model
from pydantic_ai.profiles import JsonSchemaTransformer
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from agent.models.connections import connect
from agent.models.schemas import remembering
from agent.turn.tool_selection import all_tools
from tests.agent.models.wires import addressed

SCHEMAS = [tool.function_schema.json_schema for toolset in all_tools() for tool in toolset.tools.values()]
NAMES = {
    "openai": "gpt-6-luna",
    "openai-chat": "gpt-6-luna",
    "anthropic": "claude-haiku-5-5",
    "google": "gemini-4-argon",
    "groq": "openai/gpt-oss-20b",
    "mistral": "mistral-small-latest",
    "openrouter": "openai/gpt-6-luna",
    "azure": "any",
    "bedrock": "global.anthropic.claude-haiku-5-5",
    "ollama": "qwen3",
    "openai-compatible": "any",
}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": "string", "default": "x"},
        {"$ref": "#/$defs/Part"},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "title": "T"},
        {"enum": ["a", "b"], "type": "string"},
    ]
)
FIELDS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.recursive(LEAVES, lambda inner: st.builds(_list, inner)))


def _rewritten(by: type[JsonSchemaTransformer], schema: dict[str, Any], strict: bool | None) -> tuple[object, bool]:
    """What a transformer makes of a schema, or what it says against it, and whether that is strict."""
    made: Any = by
    transformer = made(schema, strict=strict)
    try:
        return transformer.walk(), transformer.is_strict_compatible
    except UserError as refused:
        return str(refused), False


def transformer_of(model: Model) -> type[JsonSchemaTransformer] | None:
    """What rewrites a model's schemas."""
    return model.profile.get("json_schema_transformer")


@pytest.mark.parametrize("provider", NAMES)
def test_every_provider_s_schemas_are_those_that_it_makes_without_memory(provider: str) -> None:
    found = transformer_of(connect(provider, NAMES[provider], addressed(provider, "http://127.0.0.1:9")))
    if found is None:
        return  # it takes schemas as they are
    plain = found.__mro__[1]
    assert found is remembering(plain)
    for schema in SCHEMAS:
        before = copy.deepcopy(schema)
        for _ in range(2):
            assert _rewritten(found, schema, None) == _rewritten(plain, schema, None)
        assert schema == before, "the tool's own schema stays as it is"


@given(FIELDS, st.sampled_from([None, True, False]), st.sampled_from(["required", "optional"]))
def test_any_schema_is_rewritten_as_without_memory(
    fields: dict[str, Any],
    strict: bool | None,
    needed: str,
) -> None:
    part = {"type": "object", "properties": {"n": {"type": "number"}}, "additionalProperties": False}
    shared = {
        "type": "object",
        "properties": fields,
        "$defs": {"Part": part},
        **({"required": list(fields)} if needed == "required" else {}),
    }
    schema = json.loads(json.dumps(shared))  # no part of it is in two places, as in what pydantic makes
    for plain in (OpenAIJsonSchemaTransformer, GoogleJsonSchemaTransformer):
        expected = _rewritten(plain, schema, strict)
        assert _rewritten(remembering(plain), schema, strict) == expected
        assert _rewritten(remembering(plain), copy.deepcopy(schema), strict) == expected


def test_a_schema_is_rewritten_once_for_each_strictness() -> None:
    walks: list[bool | None] = []

    class Counting(JsonSchemaTransformer):
        def walk(self) -> dict[str, Any]:
            walks.append(self.strict)
            return super().walk()

        def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
            return schema

    for _ in range(3):
        for strict in (None, True):
            _rewritten(remembering(Counting), {"type": "object", "properties": {}}, strict)
    assert walks == [None, True]
    assert issubclass(remembering(Counting), Counting)
    assert ModelProfile(json_schema_transformer=remembering(Counting))
