"""Component types that execute what a field, a file or a model tells them to, and the fields that are executed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from flows.catalogue import Catalogue
from flows.document import Node
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, object_at
from runtime.guard.violations import FIXES, Violation

_MODEL_CODE = "it executes code that a language model writes"
_OTHER_FLOW = "it runs another stored flow, which is not checked here"
_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "PythonREPLComponent": "python_code",
        "PythonREPLTool": "python_code",  # and whatever an agent sends it
        "PythonREPLToolComponent": "python_code",
        "PythonFunction": "function_code",
        "PythonFunctionComponent": "function_code",
        "PythonCodeStructuredTool": "tool_code",  # removed from lfx, still found in old flows
    }
)
"""The field that each of these types executes, whatever its own definition calls the field's type."""

EXECUTING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(_FIELDS, "it executes Python written in one of its fields"),
        "MCPTools": "it starts a program that its settings name",  # a server of the stdio kind is a command line
        "Smart Transform": _MODEL_CODE,  # eval of a lambda that the model writes
        "LambdaFilterComponent": _MODEL_CODE,
        "CSVAgent": _MODEL_CODE,  # pandas agent with `allow_dangerous_code`
        "SQLAgent": "it executes SQL that a language model writes",
        **dict.fromkeys(("CodeActAgentSmolagents", "Cuga", "OpenDsStarAgent"), _MODEL_CODE),
        "CrewAIAgentComponent": _MODEL_CODE,  # `allow_code_execution`
        "SequentialTaskAgentComponent": _MODEL_CODE,  # the same
        "OpenAPIAgent": "it sends requests that a language model makes up",  # `allow_dangerous_requests`
        **dict.fromkeys(("RunFlow", "SubFlow", "FlowTool"), _OTHER_FLOW),
        "FileSystemTool": "it gives an agent the files below a folder of its choice",
    }
)
"""Reasons by component type; whatever the engine itself lists as executing code is among them."""

OUT_OF_FIELD: frozenset[str] = frozenset(_FIELDS) - {"PythonCodeStructuredTool"}
"""Types that execute one of their own fields: they run where that field's text is known, and passes the guard."""

HANDS_OUT: frozenset[str] = frozenset({"component_as_tool", "api_build_tool"})
"""Outputs through which such a component becomes an agent's tool, and executes what the agent sends."""

_MODULES_FIELD = "global_imports"
STEERING: frozenset[str] = frozenset({"code", *_FIELDS.values(), _MODULES_FIELD})
"""Fields that decide what is executed: nothing may be put into them while the flow runs."""
_FENCE = re.compile(r"\A(?:\s|`)*(?:python)?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class ExecutedField:
    """A field whose value is executed.

    Attributes:
        node: the id of the node.
        name: the field.
        code: the source that is executed; empty when the field holds none.
        violations: what stands in its way.
    """

    node: str
    name: str
    code: str
    violations: tuple[Violation, ...]


def executed_fields(node: Node, catalogue: Catalogue) -> list[ExecutedField]:
    """Every field of a node whose value is executed, read by the guard.

    Those are the fields of the types known to do so, and any other field that the node or the catalogue calls code.
    """
    return fields_of(node.id, node.type, object_at(node.raw, "data", "node", "template"), catalogue)


def fields_of(node_id: str, type_name: str, template: JsonObject, catalogue: Catalogue) -> list[ExecutedField]:
    """The executed fields of a node that is given by its parts."""
    known = catalogue.get(type_name)
    declared: Mapping[str, JsonObject] = {} if known is None else known.template
    names = [_FIELDS[type_name]] if type_name in _FIELDS else []
    for name in (*template, *declared):
        kinds = (as_object(template.get(name)).get("type"), as_object(declared.get(name)).get("type"))
        if name != "code" and "code" in kinds and name not in names:
            names.append(name)
    return [_read(node_id, name, template) for name in names]


def _read(node_id: str, name: str, template: JsonObject) -> ExecutedField:
    value = as_object(template.get(name)).get("value")
    if value is not None and not isinstance(value, str):
        unreadable = Violation(1, "syntax", "The field holds something else than a text.", FIXES["syntax"])
        return ExecutedField(node_id, name, "", (unreadable,))
    from runtime.guard.source import scan  # what reads sources is imported when one has to be read

    code = _FENCE.sub("", value or "").rstrip(" \t\r\n`")
    modules = _modules(as_object(template.get(_MODULES_FIELD)).get("value"))
    return ExecutedField(node_id, name, code, tuple(scan(code, modules=modules)))


def _modules(value: Json) -> list[str]:
    """The modules that such a component imports for the code, as it reads their list."""
    names = value.split(",") if isinstance(value, str) else [as_text(name) for name in as_list(value)]
    return [name.strip() for name in names if name.strip()]
