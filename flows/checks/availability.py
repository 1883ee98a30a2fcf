"""Checks of what the engine alone can run, without further bundles and without Langflow's services."""

from __future__ import annotations

from collections.abc import Sequence

from flows.catalogue import Catalogue
from flows.document import Node
from flows.faults import Fault, Severity
from flows.fields.dynamic.rules import keys_of
from flows.json_values import as_object, texts

_OPTIONAL = frozenset({"boto3", "googleapiclient", "jq", "langflow", "sqlmodel"})
"""Packages that components import for only one of several functions."""
_JQ = frozenset({"JQ Expression", "Path Selection"})
_CHOSEN: dict[str, tuple[tuple[str, str, frozenset[str]], ...]] = {
    "Operations": (("jq", "operation", _JQ),),
    "DataOperations": (("jq", "operations", _JQ),),
    "ParseJSONData": (("jq", "", frozenset()),),
    "SaveToFile": (
        ("boto3", "storage_location", frozenset({"AWS"})),
        ("googleapiclient", "storage_location", frozenset({"Google Drive"})),
    ),
}
"""When a function needs such a package: the package, the field, and its options (none: always)."""


def check_engine(nodes: Sequence[Node], catalogue: Catalogue, running: set[str]) -> list[Fault]:
    """Return a fault for every component that the engine alone cannot run; a warning for those that are not run."""
    faults: list[Fault] = []
    for node in nodes:
        severity: Severity = "error" if node.id in running else "warning"
        component = catalogue.get(node.type)
        service = None if component is None else component.service
        if component is not None and service is not None:
            message = f"{node.id} ({node.type}) {service}, which the engine alone does not have."
            fix = "Put its steps into this flow instead, or run the flow in Langflow."
            if component.instead is not None and component.instead in catalogue:
                fix = f"Use {component.instead} instead, or run the flow in Langflow."
            faults.append(Fault(code="needs_service", message=message, fix=fix, severity=severity, node=node.id))
        if component is None or not component.lacking:
            continue
        held = texts(component.lacking.get("sometimes"))
        chosen = [name for name in held if _is_chosen(node, name)]
        always = [*texts(component.lacking.get("always")), *([] if node.tool_mode else chosen)]
        sometimes = [name for name in held if name not in _OPTIONAL]
        if always or sometimes:
            packages = ", ".join(always or sometimes)
            message = f"{node.id} ({node.type}) needs {packages}, which the engine does not have."
            fix = "Search for a component that does not need it."
            faults.append(
                Fault(
                    code="needs_package",
                    message=message,
                    fix=fix,
                    severity=severity if always else "warning",
                    node=node.id,
                )
            )
    return faults


def _is_chosen(node: Node, package: str) -> bool:
    """Say whether the selected function of a component needs a package."""
    return any(
        package == name
        and (not field or not wanted.isdisjoint(keys_of(as_object(node.field(field)), node.value(field))))
        for name, field, wanted in _CHOSEN.get(node.type, ())
    )
