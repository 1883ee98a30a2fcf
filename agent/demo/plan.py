"""A plan of the demo planner: tool calls in order, then a closing text."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import JsonValue

Arguments: TypeAlias = dict[str, JsonValue]
Step: TypeAlias = tuple[str, Callable[[], Arguments]]
"""A tool's name and its arguments, worked out when the step's turn comes."""


class CannotPlan(Exception):
    """A request that the rules do not cover; the message says so to the user."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to do about one message.

    Attributes:
        steps: tool calls, in order.
        close: the closing text, from what the tools answered.
        declines: whether it only says that nothing can be done.
    """

    steps: tuple[Step, ...] = field(default=())
    close: Callable[[list[str]], str]
    declines: bool = False


def step(tool: str, **arguments: JsonValue) -> Step:
    """A step whose arguments are known now."""
    return tool, lambda: dict(arguments)
