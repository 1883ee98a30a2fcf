"""What an application may have done beside an agent's tools: states for the front end, and context for prompts."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from server.agui.run_input import RunInput

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ToolCallContext:
    """A call of a tool, for hooks.

    Attributes:
        run: what the client sent.
        tool_name: the tool.
        tool_call_id: the call.
        arguments: what the model wrote for it.
    """

    run: RunInput
    tool_name: str
    tool_call_id: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolResultContext(ToolCallContext):
    """A call of a tool with its result, for hooks.

    Attributes:
        result: what the tool returned.
        message_id: the message that tells the client.
    """

    result: Any
    message_id: str


State: TypeAlias = Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class ToolBehavior:
    """What the front end's state becomes when a tool is called. A hook may be asynchronous; None changes nothing.

    Attributes:
        state_from_args: makes the state when a call begins.
        state_from_result: makes the state when it has returned.
    """

    state_from_args: Callable[[ToolCallContext], State | Awaitable[State]] | None = None
    state_from_result: Callable[[ToolResultContext], State | Awaitable[State]] | None = None


@dataclass(frozen=True, kw_only=True)
class AguiConfig:
    """How an agent is served to AG-UI clients.

    Attributes:
        tool_behaviors: by tool name.
        state_context_builder: makes the prompt of the message and what the client sent, such as its state.
        deps: makes the agent's dependencies of what the client sent.
        request_limit: how many requests to the model a run may make.
        threads: how many threads are remembered; the least recently used is forgotten first.
    """

    tool_behaviors: Mapping[str, ToolBehavior] = field(default_factory=dict[str, ToolBehavior])
    state_context_builder: Callable[[RunInput, str], str | Awaitable[str]] | None = None
    deps: Callable[[RunInput], Any] | None = None
    request_limit: int = 50
    threads: int = 1_000


async def outcome(hook: Callable[..., Any] | None, *arguments: Any) -> Any:
    """What a hook gives; None when there is none, or when it fails, which is logged and ends nothing."""
    if hook is None:
        return None
    try:
        given = hook(*arguments)
        return await given if inspect.isawaitable(given) else given
    except Exception:
        log.exception("agui.hook.failed")
        return None


def shared(state: Any) -> Any:
    """A state as it is sent: without `messages`, of which the front end has its own."""
    if not isinstance(state, Mapping):
        return state
    given = cast("Mapping[str, Any]", state)
    return {name: value for name, value in given.items() if name != "messages"}
