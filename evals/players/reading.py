"""How a scripted classifier reads a message whose script does just what the user asks for."""

import json
from collections.abc import Mapping, Sequence

from agent.language.requests import asks_run
from tools.mandate import EVERYTHING

_EDITS = {"edit": [EVERYTHING], "remove": [EVERYTHING], "replace_text": list[str](), "undo": list[str]()}
_FILES = {"write_files": list[str](), "overwrite_files": [EVERYTHING]}
_COMPONENTS = {"write_components": list[str]()}
_ASKED: dict[str, dict[str, list[str]]] = {
    "build_flow": _EDITS,
    "run_flow": {**_EDITS, "run": list[str]()},
    "generate_component": _COMPONENTS,
    "component_then_flow": {**_EDITS, **_COMPONENTS},
    "manage_files": _FILES,
}


def full_mandate(intent: str, message: str) -> dict[str, list[str]]:
    """The mandate that covers whatever a script does, but for a run that nobody asks for, installs and hosts.

    Args:
        intent: what the message is for.
        message: what the user wrote.
    """
    runs = {"run": list[str]()} if asks_run(message) else {}
    return {**_ASKED.get(intent, {}), **runs}


def classification(intent: str, message: str, mandate: Mapping[str, Sequence[str]] | None = None) -> str:
    """A classifier's answer, as JSON.

    Args:
        intent: what the message is for.
        message: what the user wrote.
        mandate: effects beyond the full mandate, or with other targets.
    """
    return json.dumps({"intent": intent, "mandate": {**full_mandate(intent, message), **(mandate or {})}})
