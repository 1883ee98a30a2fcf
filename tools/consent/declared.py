"""The effects that tools state beside their functions; a tool without any only reads."""

from collections.abc import Callable
from typing import Any, TypeVar

from tools.mandate import Effect

Tool = TypeVar("Tool", bound=Callable[..., Any])

_DECLARED: dict[str, frozenset[Effect]] = {}


def has_effects(*kinds: Effect) -> Callable[[Tool], Tool]:
    """State what a tool may do to what the user has; `tools.consent.rules` compares it with what they ask for.

    Args:
        kinds: the kinds of effect.
    """

    def declare(tool: Tool) -> Tool:
        _DECLARED[tool.__name__] = frozenset(kinds)
        return tool

    return declare


def effects_of(tool: str) -> frozenset[Effect]:
    """The effects that a tool states, by its name."""
    return _DECLARED.get(tool, frozenset())
