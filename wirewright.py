"""Wirewright's face: the public names, each imported when it is first used.

`import wirewright` costs next to nothing; `wirewright.Assistant` brings the agent, `wirewright.build` only the flows.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.ask import ask
    from agent.assistant import Assistant
    from agent.settings import AssistantSettings
    from agent.turn.request import TurnRequest
    from agent.turn.result import TurnResult
    from evals.user_evaluators import EvaluatorCase
    from flows.catalogue import Catalogue
    from flows.checks import check
    from flows.document import Flow
    from flows.spec import build, to_spec
    from runtime.guard import Violation, scan
    from runtime.runner import Runner
    from runtime.sessions.store import FlowSessions
    from server.agui.app import add_agui_endpoint, create_agui_app
    from server.agui.behaviour import AguiConfig, ToolBehavior, ToolCallContext, ToolResultContext

os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")  # who does not send traces is not warned of that

_HOMES = {
    "AguiConfig": "server.agui.behaviour",
    "Assistant": "agent.assistant",
    "AssistantSettings": "agent.settings",
    "Catalogue": "flows.catalogue",
    "EvaluatorCase": "evals.user_evaluators",
    "Flow": "flows.document",
    "FlowSessions": "runtime.sessions.store",
    "Runner": "runtime.runner",
    "ToolBehavior": "server.agui.behaviour",
    "ToolCallContext": "server.agui.behaviour",
    "ToolResultContext": "server.agui.behaviour",
    "TurnRequest": "agent.turn.request",
    "TurnResult": "agent.turn.result",
    "Violation": "runtime.guard",
    "add_agui_endpoint": "server.agui.app",
    "ask": "agent.ask",
    "build": "flows.spec",
    "check": "flows.checks",
    "create_agui_app": "server.agui.app",
    "scan": "runtime.guard",
    "to_spec": "flows.spec",
}

__all__ = [
    "AguiConfig",
    "Assistant",
    "AssistantSettings",
    "Catalogue",
    "EvaluatorCase",
    "Flow",
    "FlowSessions",
    "Runner",
    "ToolBehavior",
    "ToolCallContext",
    "ToolResultContext",
    "TurnRequest",
    "TurnResult",
    "Violation",
    "add_agui_endpoint",
    "ask",
    "build",
    "check",
    "create_agui_app",
    "scan",
    "to_spec",
]


def __getattr__(name: str) -> object:
    """Import a public name from where it lives.

    Raises:
        AttributeError: when it is no public name.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'wirewright' has no attribute {name!r}; it has: {', '.join(__all__)}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def main() -> None:
    """Run the `wirewright` command and exit."""
    import sys

    from cli.chat.starting import start_early

    start_early(sys.argv[1:])
    from cli.main import main as run

    run()
