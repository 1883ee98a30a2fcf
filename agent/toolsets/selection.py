"""Which tools a turn gets: only those that its kind of request, its words and its canvas can use."""

import re
from collections.abc import Collection

from agent.toolsets.cached import Toolset, subset
from agent.turn.result import Intent
from tools.toolsets.build import build_tools
from tools.toolsets.components import component_tools
from tools.toolsets.discover import discover
from tools.toolsets.edit import edit
from tools.toolsets.files import FILE_READ_TOOLS, file_tools
from tools.toolsets.manual import manual_tools
from tools.toolsets.plan import plan_tools
from tools.toolsets.read import read
from tools.toolsets.run import run_tools
from tools.toolsets.templates import template_list, template_use
from tools.toolsets.todos import todo_tools
from tools.toolsets.undo import undo_tools
from tools.workbench import Workbench

READ_TOOLS = frozenset(
    {
        "search_components",
        "describe_component",
        "get_field_value",
        "describe_flow_io",
        "list_templates",
        "read_manual",
        "write_todos",
        *FILE_READ_TOOLS,
    }
)
"""Tools that change nothing outside the turn; a call of any other is an attempt to act."""

WRITES_COMPONENTS = frozenset[Intent]({"generate_component", "component_then_flow"})
"""What a turn is for when the agent may write a component."""

FIRST_EDITS = subset(edit, "add_component", "connect_components", "configure_component")
"""The edits that an empty canvas allows."""

SETTING = subset(edit, "configure_component")
"""The one edit that belongs to a run: giving a field its value."""

READING_FILES = subset(file_tools, *FILE_READ_TOOLS)
"""What a question may do with files."""

LONG = 400
"""Characters from which on a request may be a long task."""

_TODOS = re.compile(r"\b(?:to-?dos?|to[- ]do list|check-?list)\b", re.IGNORECASE)
_TEMPLATES = re.compile(r"\b(template|starter|example|sample|ready[- ]made)", re.IGNORECASE)
_FILES = re.compile(
    r"\b(files?|folder|markdown|readme|document(?:ation)?|arquivo|archivo|fichero|datei|fichier)\b"
    r"|\.(?:md|txt|json|csv|ya?ml|py)\b",
    re.IGNORECASE,
)


def tools_for(intent: Intent, bench: Workbench, request: str) -> list[Toolset]:
    """The toolsets of a turn, in an order that never changes within a kind.

    Args:
        intent: what the turn is for.
        bench: what it works on.
        request: the message, in English where it was translated.
    """
    canvas = not bench.started.is_empty or not bench.current.is_empty
    reading: list[Toolset] = [read] if canvas else []
    undo: list[Toolset] = [undo_tools] if bench.undoable else []
    match intent:
        case "question":
            files = [READING_FILES] if _FILES.search(request) else []
            return [discover, *reading, template_list, manual_tools, *files]
        case "run_flow":
            changing: list[Toolset] = [SETTING] if canvas else []
            return [*reading, *changing, *undo, run_tools]
        case "manage_files":
            return [*reading, file_tools, *_long(request), *([run_tools] if canvas else [])]
        case "build_flow" | "component_then_flow" | "generate_component" | "off_topic":
            edits: Toolset = edit if canvas else FIRST_EDITS
            templates = [template_list, template_use] if _TEMPLATES.search(request) else []
            files = [file_tools] if _FILES.search(request) else []
            making = [component_tools] if intent in WRITES_COMPONENTS else []
            found = [discover, *reading, *making, build_tools, *templates, edits, *undo, plan_tools, run_tools]
            return [*found, *files, *_long(request)]


def acting_calls(names: Collection[str]) -> list[str]:
    """Of the tools that were called, those that act."""
    return [name for name in names if name not in READ_TOOLS]


def all_tools() -> list[Toolset]:
    """Every toolset, for a model that costs nothing to tell of them."""
    return [
        discover, read, build_tools, template_list, template_use, edit, undo_tools, plan_tools, run_tools, file_tools,
        todo_tools, component_tools, manual_tools,
    ]  # fmt: skip


def _long(request: str) -> list[Toolset]:
    long = len(request) > LONG or request.count("\n") > 3
    return [todo_tools] if long or _TODOS.search(request) else []
