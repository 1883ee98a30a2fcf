"""Arguments that fit a JSON Schema, and those that do not; the reference implementation is asked the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.toolsets.json_schema import PROBLEMS, problems

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 0.5, 2.0]), st.text("ab", max_size=3)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["null", "boolean", "string", "array", "object", "number", "integer"])


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


PLAIN = _some(
    type=TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
    enum=st.lists(SCALARS, min_size=1, max_size=3),
    const=SCALARS,
    minimum=st.integers(-2, 2),
    exclusiveMaximum=st.integers(-2, 2),
    minLength=st.integers(0, 2),
    maxItems=st.integers(0, 2),
)
SCHEMAS = st.recursive(
    st.booleans() | PLAIN,
    lambda inner: _some(
        type=TYPES,
        properties=st.dictionaries(NAMES, inner, max_size=2),
        required=st.lists(NAMES, max_size=2, unique=True),
        additionalProperties=inner,
        items=inner,
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        anyOf=st.lists(inner, min_size=1, max_size=2),
        oneOf=st.lists(inner, min_size=1, max_size=2),
        allOf=st.lists(inner, min_size=1, max_size=2),
        **{"not": inner},
    ),
    max_leaves=6,
)


@given(value=VALUES, schema=SCHEMAS)
def test_what_fits_is_what_the_reference_implementation_says(value: Any, schema: Any) -> None:
    reference: Any = Draft202012Validator(schema)
    assert (problems(value, schema) == []) == reference.is_valid(value)


def test_a_problem_is_named_with_its_place() -> None:
    schema: Any = {
        "properties": {
            "to": {"type": "array", "items": {"$ref": "#/$defs/person"}},
            "size": {"type": "integer", "minimum": 1, "maximum": 5},
            "name": {"type": "string", "minLength": 2},
        },
        "required": ["to", "when"],
        "$defs": {"person": {"type": "object", "required": ["name"]}},
    }
    assert problems({"to": [{"name": "Ada"}, {}], "size": 9, "name": "x"}, schema) == [
        "when: is missing",
        "to[1].name: is missing",
        "size: must be at most 5",
        "name: must have at least 2 characters",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/nowhere"},
        {"type": "made-up", "enum": 1, "required": "a", "properties": [], "minimum": "x"},
        {"pattern": "(a+)+$"},
    ],
)
def test_a_schema_that_leads_nowhere_refuses_nothing(schema: Any) -> None:
    assert problems({"a": "a" * 40 + "!"}, schema) == []


def test_many_problems_are_named_in_part() -> None:
    assert len(problems(list(range(100)), {"items": {"type": "string"}})) == PROBLEMS
