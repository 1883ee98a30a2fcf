"""Fields whose value a component executes: each is read as source, like the component's own code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from flows.catalogue import Catalogue
from flows.document import Node
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, object_at
from runtime.guard.source import scan
from runtime.guard.violations import FIXES, Violation

_KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "PythonREPLComponent": "python_code",
        "PythonREPLTool": "python_code",
        "PythonREPLToolComponent": "python_code",
        "PythonFunction": "function_code",
        "PythonFunctionComponent": "function_code",
        "PythonCodeStructuredTool": "tool_code",
    }
)
"""The field that each of these types executes, whatever its own definition calls the field's type."""

_MODULES_FIELD = "global_imports"
STEERING: frozenset[str] = frozenset({"code", *_KNOWN.values(), _MODULES_FIELD})
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
    names = [_KNOWN[type_name]] if type_name in _KNOWN else []
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
    code = _FENCE.sub("", value or "").rstrip(" \t\r\n`")
    modules = _modules(as_object(template.get(_MODULES_FIELD)).get("value"))
    return ExecutedField(node_id, name, code, tuple(scan(code, modules=modules)))


def _modules(value: Json) -> list[str]:
    """The modules that such a component imports for the code, as it reads their list."""
    names = value.split(",") if isinstance(value, str) else [as_text(name) for name in as_list(value)]
    return [name.strip() for name in names if name.strip()]
