"""How a scripted classifier reads a message whose script does just what the user asks for."""

import json
from collections.abc import Mapping, Sequence

from agent.language.requests import asks_run
from tools.mandate import EVERYTHING

_ALL = ("edit", "remove", "overwrite_files")
_OPEN = ("replace_text", "undo", "write_files", "write_components")


def full_mandate(intent: str, message: str) -> dict[str, list[str]]:
    """The mandate that covers whatever a script does, but for a run that nobody asks for, installs and hosts.

    Args:
        intent: what the message is for.
        message: what the user wrote.
    """
    runs = ("run",) if intent == "run_flow" or asks_run(message) else ()
    return {**{one: [EVERYTHING] for one in _ALL}, **{one: list[str]() for one in (*_OPEN, *runs)}}


def classification(intent: str, message: str, mandate: Mapping[str, Sequence[str]] | None = None) -> str:
    """A classifier's answer, as JSON.

    Args:
        intent: what the message is for.
        message: what the user wrote.
        mandate: effects beyond the full mandate, or with other targets.
    """
    return json.dumps({"intent": intent, "mandate": {**full_mandate(intent, message), **(mandate or {})}})
