"""Checks the arguments of a client's tool against the JSON Schema that the client has given for them.

The keywords that say what arguments look like are checked (https://json-schema.org/draft/2020-12); others, such as
formats and patterns, are for the client to check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from pydantic import JsonValue

Schema = JsonValue

STEPS: Final = 10_000
"""How many parts of schemas are compared at most; what is left is taken as it is."""

DEPTH: Final = 100
"""How deep parts of schemas are followed; beyond that, what is left is taken as it is."""

PROBLEMS: Final = 10
"""How many problems are named."""

_TYPES: Final[Mapping[str, Callable[[JsonValue], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}


def problems(value: JsonValue, schema: Schema) -> list[str]:
    """What of a value does not fit a schema, each with its place; empty when all of it fits.

    Args:
        value: the value.
        schema: the JSON Schema.
    """
    check = _Check(schema)
    return [problem for problem, _ in zip(check.of(value, schema, ""), range(PROBLEMS), strict=False)]


class _Check:
    """One comparison.

    Args:
        root: the schema that references begin at.
    """

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = STEPS
        self._depth = 0

    def of(self, value: JsonValue, schema: Schema, at: str) -> Iterator[str]:
        """The problems of a part."""
        self._left = self._left - 1 if self._depth < DEPTH else 0
        if self._left <= 0:
            return
        self._depth += 1
        try:
            yield from self._part(value, schema, at)
        finally:
            self._depth -= 1

    def _part(self, value: JsonValue, schema: Schema, at: str) -> Iterator[str]:
        if schema is False:
            yield _said(at, "is not allowed")
        if not isinstance(schema, dict):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and (found := self._found(reference)) is not None:
            yield from self.of(value, found, at)
        yield from self._plain(value, schema, at)
        match value:
            case str():
                yield from _size(len(value), schema, at, "Length", "characters")
            case list():
                yield from self._list(value, schema, at)
            case dict():
                yield from self._object(value, schema, at)
            case _:
                pass
        yield from self._combined(value, schema, at)

    def _plain(self, value: JsonValue, schema: Mapping[str, Schema], at: str) -> Iterator[str]:
        kinds = schema.get("type")
        named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
        known = [_TYPES[kind] for kind in named if isinstance(kind, str) and kind in _TYPES]
        if known and not any(fits(value) for fits in known):
            yield _said(at, f"must be of type {' or '.join(map(str, named))}")
        options = schema.get("enum")
        if isinstance(options, list) and not any(_equal(value, one) for one in options):
            yield _said(at, f"must be one of {', '.join(map(repr, options[:20]))}")
        if "const" in schema and not _equal(value, schema["const"]):
            yield _said(at, f"must be {schema['const']!r}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from _range(value, schema, at)

    def _list(self, value: list[JsonValue], schema: Mapping[str, Schema], at: str) -> Iterator[str]:
        yield from _size(len(value), schema, at, "Items", "items")
        given = schema.get("prefixItems")
        first = given if isinstance(given, list) else []
        for index, one in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            yield from self.of(one, part, f"{at}[{index}]")

    def _object(self, value: dict[str, JsonValue], schema: Mapping[str, Schema], at: str) -> Iterator[str]:
        given, required = schema.get("properties"), schema.get("required")
        known = given if isinstance(given, dict) else {}
        for name in required if isinstance(required, list) else []:
            if isinstance(name, str) and name not in value:
                yield _said(f"{at}.{name}", "is missing")
        others: Schema = True if "patternProperties" in schema else schema.get("additionalProperties", True)
        for name, one in value.items():
            yield from self.of(one, known.get(name, others), f"{at}.{name}")

    def _combined(self, value: JsonValue, schema: Mapping[str, Schema], at: str) -> Iterator[str]:
        for part in _parts(schema, "allOf"):
            yield from self.of(value, part, at)
        either = _parts(schema, "anyOf")
        if either and not any(self._fits(value, part, at) for part in either):
            yield _said(at, "fits none of what is allowed there")
        one = _parts(schema, "oneOf")
        if one and sum(self._fits(value, part, at) for part in one) != 1 and self._left > 0:
            yield _said(at, "must fit exactly one of what is allowed there")
        if "not" in schema and self._fits(value, schema["not"], at) and self._left > 0:
            yield _said(at, "is not allowed")

    def _fits(self, value: JsonValue, schema: Schema, at: str) -> bool:
        return next(self.of(value, schema, at), None) is None

    def _found(self, reference: str) -> Schema:
        """What a reference within the schema names; None when it is none, or leads out of it."""
        at = self._root
        if not reference.startswith("#"):
            return None
        for name in reference[1:].split("/")[1:]:
            key = name.replace("~1", "/").replace("~0", "~")
            at = at.get(key) if isinstance(at, dict) else None
        return at


def _parts(schema: Mapping[str, Schema], name: str) -> list[Schema]:
    given = schema.get(name)
    return given if isinstance(given, list) else []


def _size(size: int, schema: Mapping[str, Schema], at: str, kind: str, unit: str) -> Iterator[str]:
    least, most = _number(schema, f"min{kind}"), _number(schema, f"max{kind}")
    if least is not None and size < least:
        yield _said(at, f"must have at least {least:g} {unit}")
    if most is not None and size > most:
        yield _said(at, f"must have at most {most:g} {unit}")


def _range(value: float, schema: Mapping[str, Schema], at: str) -> Iterator[str]:
    least, most = _number(schema, "minimum"), _number(schema, "maximum")
    above, below = _number(schema, "exclusiveMinimum"), _number(schema, "exclusiveMaximum")
    if (least is not None and value < least) or (above is not None and value <= above):
        yield _said(at, f"must be {'at least' if above is None else 'more than'} {least if above is None else above:g}")
    if (most is not None and value > most) or (below is not None and value >= below):
        yield _said(at, f"must be {'at most' if below is None else 'less than'} {most if below is None else below:g}")


def _number(schema: Mapping[str, Schema], name: str) -> float | None:
    value = schema.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _equal(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are the same JSON: a switch is no number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(one, right[name]) for name, one in left.items())
    return cast("object", left) == right


def _said(at: str, problem: str) -> str:
    return f"{at.lstrip('.') or 'arguments'}: {problem}"
