"""YAML that others wrote, read within limits: nesting would end the interpreter, and aliases fill its memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

import yaml

DEPTH_LIMIT: Final = 200
"""Levels of lists and mappings inside each other."""

VALUES_LIMIT: Final = 1_000_000
"""Values of a document in which each alias is replaced by what it stands for."""

_EVENTS: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HALF = DEPTH_LIMIT // 2
_INDENTED = re.compile(rf"^[ \-?:]{{{_HALF}}}", re.MULTILINE)
_ALIAS = re.compile(r"\*[^\s*]")


class TooComplex(ValueError):
    """A document nests too deep, or its aliases stand for too much."""


def load_yaml(text: str, loader: Any = yaml.SafeLoader) -> Any:
    """Read one YAML document.

    Args:
        text: the document.
        loader: one of PyYAML's safe loaders.

    Raises:
        TooComplex: it goes beyond the limits.
        yaml.YAMLError: it is not YAML.
    """
    if _may_be_complex(text):
        _check(text)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506  (callers give a safe one)
    except RecursionError:
        raise TooComplex(f"nests deeper than {DEPTH_LIMIT} levels") from None


def _may_be_complex(text: str) -> bool:
    """Whether the text could go beyond the limits; quick, and never wrongly no."""
    brackets = text.count("[") + text.count("{")
    return brackets > _HALF or _INDENTED.search(text) is not None or _ALIAS.search(text) is not None


def _check(text: str) -> None:
    """Count levels and values as the parser meets them, which builds nothing."""
    sizes: dict[str, int] = {}
    held: list[tuple[str | None, int]] = [(None, 0)]
    events = cast("Iterator[yaml.Event]", yaml.parse(text, Loader=_EVENTS))  # pyright: ignore[reportUnknownMemberType]  (its stubs)
    for event in events:
        match event:
            case yaml.AliasEvent():
                held[-1] = (held[-1][0], held[-1][1] + sizes.get(str(event.anchor), 1))
            case yaml.CollectionStartEvent():
                held.append((event.anchor, 1))
            case yaml.CollectionEndEvent():
                anchor, size = held.pop()
                if anchor is not None:
                    sizes[anchor] = size
                held[-1] = (held[-1][0], held[-1][1] + size)
            case yaml.ScalarEvent():
                if event.anchor is not None:
                    sizes[event.anchor] = 1
                held[-1] = (held[-1][0], held[-1][1] + 1)
            case _:
                pass
        if len(held) > DEPTH_LIMIT:
            raise TooComplex(f"nests deeper than {DEPTH_LIMIT} levels")
        if held[-1][1] > VALUES_LIMIT:
            raise TooComplex(f"has aliases that expand to more than {VALUES_LIMIT:,} values")
