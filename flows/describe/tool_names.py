"""The names that an agent's model sees for the components that are its tools."""

from __future__ import annotations

import re

from flows.catalogue import Catalogue
from flows.document import Node
from flows.json_values import as_list, as_object, as_text, texts

GENERIC_METHODS = frozenset({"output", "process", "build_output", "run", "execute", "main", "handler", "build_result"})
"""Generic method names, which do not say what a tool does."""
_TOOL_TYPES = frozenset({"Tool", "BaseTool", "StructuredTool"})


def tool_names(node: Node, catalogue: Catalogue) -> list[str]:
    """Return the names of the tools that a component provides: one per output, named after its method.

    A single output with a generic method (`run`, `process` …) gets the component class in snake case. Names given in
    the node's tool settings take precedence, and tools disabled there are left out. A component that creates tools at
    run time (such as one for MCP servers) has none here.

    Args:
        node: the component, as a tool or as a step.
        catalogue: has the outputs that the component has as a step.
    """
    component = catalogue.get(node.type)
    code = component.code if component is not None else node.code
    if re.search(r"def (?:_get_tools|to_toolkit)\(", code):
        return []
    if re.search(r"^class \w+\(LCToolsAgentComponent\)", code, re.MULTILINE):
        return [_formatted(node.display_name)]  # an agent as a tool has its display name
    outputs = component.outputs if component is not None and node.tool_mode else node.outputs
    methods = [
        as_text(output.get("method"))
        for output in outputs
        if output.get("tool_mode", True) and not _TOOL_TYPES & set(texts(output.get("types")))
    ]
    names = [_formatted(method) for method in methods if method]
    if len(names) == 1 and names[0] in GENERIC_METHODS:
        names = [snake_case(_class_name(node, code))]
    rows = [as_object(row) for row in as_list(node.value("tools_metadata"))]
    given = {tag: row for row in rows for tag in texts(row.get("tags"))[:1]}
    return [
        as_text(given[name].get("name")) or name if name in given else name
        for name in names
        if as_object(given.get(name)).get("status", True)
    ]


def snake_case(name: str) -> str:
    """Return a class name in snake case, keeping acronyms together: `HTTPClient` is `http_client`."""
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", parted).lower()


def _formatted(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "-", name)


def _class_name(node: Node, code: str) -> str:
    module = as_text(as_object(node.definition.get("metadata")).get("module"))
    if module.rpartition(".")[2][:1].isupper():
        return module.rpartition(".")[2]
    classes = re.findall(r"^class (\w+)\(([^)]*)\)", code, re.MULTILINE)
    components = [name for name, bases in classes if "Component" in bases or "LC" in bases]
    return components[-1] if components else node.type
