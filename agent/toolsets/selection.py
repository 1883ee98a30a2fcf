"""Which tools a turn gets: only those that its intent, its words and its canvas can use."""

import re
from collections.abc import Collection, Sequence

from agent.toolsets.cached import Toolset, subset
from agent.turn.result import Intent
from tools.toolsets.build import build_tools
from tools.toolsets.components import component_tools
from tools.toolsets.discover import discover_tools
from tools.toolsets.edit import edit_tools
from tools.toolsets.files import FILE_READ_TOOLS, file_tools
from tools.toolsets.manual import manual_tools
from tools.toolsets.patch import patch_tools
from tools.toolsets.plan import plan_tools, todo_tools
from tools.toolsets.proposals import proposal_tools
from tools.toolsets.read import read_tools
from tools.toolsets.run import run_tools
from tools.toolsets.templates import template_list, template_use
from tools.toolsets.undo import undo_tools
from tools.workbench import Workbench

READ_TOOLS = frozenset(
    {
        "search_components",
        "describe_component",
        "get_field_value",
        "describe_flow_io",
        "check_flow",
        "list_templates",
        "read_manual",
        "write_todos",
        *FILE_READ_TOOLS,
    }
)
"""Tools that change nothing outside the turn; a call of any other is an attempt to act."""

WRITES_COMPONENTS = frozenset[Intent]({"generate_component", "component_then_flow"})
"""The intents with which the agent may write a component."""

FIELD_READING, CHECKING = subset(read_tools, "get_field_value"), subset(read_tools, "check_flow")
"""What a turn that acts may read of the canvas beyond its summary."""

UNLISTED = (patch_tools, edit_tools, build_tools, plan_tools, run_tools, CHECKING)
"""What a turn's model may call though it is not shown it: players and suspended turns call tools by name."""

CONFIGURE_ONLY = subset(edit_tools, "configure_component")
"""The one edit that belongs to a run: setting a field."""

FILE_READING = subset(file_tools, *FILE_READ_TOOLS)
"""The file tools of a question."""

LONG_REQUEST = 400
"""From this many characters on, a request may be a long task."""

_WHOLE = re.compile(
    r"\b(?:flows?|build|rebuild|create|make|generate|new|another|scratch|template|plan|chat\s?bots?|agents?|assistants?)\b",
    re.IGNORECASE,
)
"""Words with which a request on a canvas may ask for another flow rather than for changes of this one."""
_TODOS = re.compile(r"\b(?:to-?dos?|to[- ]do list|check-?list)\b", re.IGNORECASE)
_TEMPLATES = re.compile(r"\b(template|starter|example|sample|ready[- ]made)", re.IGNORECASE)
_FILES = re.compile(
    r"\b(files?|folder|markdown|readme|document(?:ation)?|arquivo|archivo|fichero|datei|fichier)\b"
    r"|\.(?:md|txt|json|csv|ya?ml|py)\b",
    re.IGNORECASE,
)


def tools_for(intent: Intent, bench: Workbench, request: str) -> list[Toolset]:
    """The toolsets of a turn, always in the same order.

    Args:
        intent: the turn's intent.
        bench: its workbench.
        request: the message, in English if it was translated.
    """
    has_canvas = not bench.initial_flow.is_empty or not bench.current.is_empty
    reading: list[Toolset] = [read_tools] if has_canvas else []
    undo: list[Toolset] = [undo_tools] if bench.undo_stack.done or bench.undo_stack.undone else []
    proposals: list[Toolset] = [proposal_tools] if bench.offers else []
    match intent:
        case "question":
            files = [FILE_READING] if bench.attached or _FILES.search(request) else []
            return [discover_tools, *reading, template_list, manual_tools, *files]
        case "run_flow":
            files = [file_tools] if _FILES.search(request) else []
            return [*reading, *([CONFIGURE_ONLY] if has_canvas else []), *undo, *proposals, run_tools, *files]
        case "manage_files":
            return [*reading, file_tools, *_long(request), *([run_tools] if has_canvas else [])]
        case "build_flow" | "component_then_flow" | "generate_component" | "off_topic":
            reading = [FIELD_READING] if has_canvas else []
            edits: list[Toolset] = [patch_tools] if has_canvas else []
            edits_only = has_canvas and intent == "build_flow" and not _long(request) and not _WHOLE.search(request)
            whole = [] if edits_only else [build_tools]
            running = [] if edits_only and not bench.run_asked else [run_tools]
            plans = [] if edits_only else [plan_tools]
            templates = [template_list, template_use] if _TEMPLATES.search(request) else []
            files = [file_tools] if _FILES.search(request) else []
            writing = [component_tools] if intent in WRITES_COMPONENTS else []
            building = [*writing, *whole, *templates, *edits, *undo, *proposals, *plans, *running]
            return [discover_tools, *reading, *building, *files, *_long(request)]


def unlisted_for(intent: Intent, listed: Sequence[Toolset]) -> list[Toolset]:
    """The toolsets whose tools a turn's model may call without being shown them.

    Args:
        intent: the turn's intent.
        listed: the toolsets that it is shown.
    """
    if intent in {"question", "run_flow", "manage_files"}:
        return []
    return [toolset for toolset in UNLISTED if toolset not in listed]


def acting_calls(names: Collection[str]) -> list[str]:
    """The calls that act, rather than only read."""
    return [name for name in names if name not in READ_TOOLS]


def all_tools() -> list[Toolset]:
    """Every toolset, for the demo planner, to which descriptions cost nothing."""
    return [
        discover_tools, read_tools, build_tools, template_list, template_use, patch_tools, edit_tools, undo_tools,
        plan_tools, proposal_tools, run_tools, file_tools, todo_tools, component_tools, manual_tools,
    ]  # fmt: skip


def _long(request: str) -> list[Toolset]:
    long = len(request) > LONG_REQUEST or request.count("\n") > 3
    return [todo_tools] if long or _TODOS.search(request) else []
