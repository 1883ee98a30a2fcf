"""Checks of nodes: known to the catalogue, complete and connected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from flows.catalogue import Catalogue
from flows.checks.structure import branches_before, leading_to, reached_from
from flows.component_type import TOOL_OUTPUT
from flows.document import Flow, Node
from flows.faults import Fault, Severity, suggest
from flows.fields.model_values import CONNECTED
from flows.fields.prompts import PROMPT_TYPES, template_error
from flows.json_values import EMPTY, as_list, as_object, as_text, texts

OUTPUT_TYPES = frozenset({"ChatOutput", "TextOutput"})
LISTED = 10
"""How many components a fault lists."""


def check_nodes(
    flow: Flow, nodes: Sequence[Node], catalogue: Catalogue, running: set[str], *, has_model: bool
) -> list[Fault]:
    """Return the faults of every component.

    Args:
        flow: the flow.
        nodes: its components.
        catalogue: the component types.
        running: the ids of those that the engine runs.
        has_model: whether there is a default model.
    """
    fed = {(edge.target, edge.target_port) for edge in flow.edges if not edge.is_feedback}
    connected = {end for edge in flow.edges for end in (edge.source, edge.target)}
    feeding = {edge.source for edge in flow.edges}
    ends = [node.id for node in nodes if node.type in OUTPUT_TYPES]
    faults = [*_duplicates(nodes), *_same_names(nodes, catalogue)]
    for node in nodes:
        faults += _check_type(node, catalogue)
        found = _check_inputs(node, fed, "error" if node.id in running else "warning")
        faults += [fault for fault in found if not (has_model and fault.code == "missing_model")]
        faults += _check_tool(node)
        if len(nodes) > 1 and node.id not in connected:
            message = f"{node.id} is not connected to anything."
            faults.append(_warning("orphan", message, "Connect it, or remove it.", node))
        elif node.id not in running and (node.id in ends or node.id not in feeding):
            message = f"The chat input does not lead to {node.id}, so it is not run."
            faults.append(_warning("unreachable", message, "Connect them, or remove the chat input.", node))
    return faults + _check_ends(flow, nodes, ends)


def running_nodes(nodes: Sequence[Node], flow: Flow) -> set[str]:
    """Return what the engine runs: what is reached from a chat input and what that needs; without one, everything."""
    starts = [node.id for node in nodes if node.type == "ChatInput"]
    if not starts:
        return {node.id for node in nodes}
    return leading_to(reached_from(starts, flow.edges), flow.edges)


def _duplicates(nodes: Iterable[Node]) -> list[Fault]:
    counts = Counter(node.id for node in nodes)
    return [
        Fault(
            code="duplicate_id",
            message=f"{count} nodes have the id {node_id!r}.",
            fix="Give each node a different id.",
            node=node_id,
        )
        for node_id, count in counts.items()
        if count > 1
    ]


def _same_names(nodes: Sequence[Node], catalogue: Catalogue) -> list[Fault]:
    """Only names that people gave count, not default names."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        component = catalogue.get(node.type)
        if component is not None and node.display_name not in (component.display_name, node.type):
            found.setdefault(node.display_name.strip().casefold(), []).append(node.id)
    return [
        Fault(
            code="duplicate_name",
            message=f"{', '.join(ids)} have the same name.",
            fix="Rename one of them.",
            severity="warning",
            node=ids[1],
        )
        for ids in found.values()
        if len(set(ids)) > 1
    ]


def _check_type(node: Node, catalogue: Catalogue) -> list[Fault]:
    component = catalogue.get(node.type)
    if component is None:
        if "flow" in node.definition:
            return []
        hint = suggest(catalogue.nearest(node.type)) or "Choose a type from the catalogue."
        severity: Severity = "warning" if node.code else "error"
        message = f"{node.id} has the type {node.type!r}, which is not in the catalogue."
        return [Fault(code="unknown_type", message=message, fix=hint, severity=severity, node=node.id)]
    same = (
        node.definition is component.definition
        or node.code == component.code
        or node.code.strip() == component.code.strip()
    )
    if not same and node.code and component.code and node.type != "CustomComponent":
        message = f"The code of {node.id} differs from the installed {node.type}."
        fix = "Replace the component by a new one, unless the change is intended."
        return [_warning("stale_code", message, fix, node)]
    return []


def _check_inputs(node: Node, fed: set[tuple[str, str]], severity: Severity) -> list[Fault]:
    faults: list[Fault] = []
    for name, field in node.template.items():
        if name == "code" or field.get("show") is False or (node.id, name) in fed:
            continue
        value, kind = field.get("value"), field.get("type")
        if kind in PROMPT_TYPES and not value:
            fix = "Write the prompt, with {name} for what comes from other components."
            faults.append(_warning("empty_prompt", f"{node.id}.{name} is empty.", fix, node, name))
        elif kind in PROMPT_TYPES and (refused := template_error(node, name)) is not None:
            message = f"{node.id}.{name}: {refused}"
            faults.append(_fault("bad_template", message, refused.fix, node, name, severity))
        if node.tool_mode and field.get("tool_mode"):
            continue
        if not field.get("required") or (value not in EMPTY and value != CONNECTED):
            continue
        if kind == "model":
            fix = "Choose one as provider:name, or configure a default model."
            message = f"{node.id}.{name} has no model, and there is no default model that serves it."
            faults.append(_warning("missing_model", message, fix, node, name))
        else:
            is_handle = kind == "other" and bool(texts(field.get("input_types")))
            fix = "Connect an output to it." if is_handle else "Set it or connect an output to it."
            message = f"{node.id}.{name} is required."
            faults.append(_fault("missing_input", message, fix, node, name, severity if is_handle else "warning"))
    return faults


def _check_tool(node: Node) -> list[Fault]:
    """An agent's model chooses tools by their descriptions."""
    if not node.tool_mode:
        return []
    rows = [as_object(row) for row in as_list(node.value("tools_metadata"))]
    descriptions = [as_text(row.get("description")).strip() for row in rows if row.get("status", True)]
    if as_text(node.definition.get("description")).strip() if not descriptions else all(descriptions):
        return []
    message = f"{node.id} is a tool without a description."
    return [_warning("undescribed_tool", message, "Describe it, so that an agent knows when to use it.", node)]


def _check_ends(flow: Flow, nodes: Sequence[Node], ends: Sequence[str]) -> list[Fault]:
    faults: list[Fault] = []
    for kind, code in (("ChatInput", "several_chat_inputs"), ("ChatOutput", "several_chat_outputs")):
        same = [node for node in nodes if node.type == kind]
        if len(same) > 1 and not _are_alternatives(same, flow):
            names = ", ".join(node.id for node in same[:LISTED])
            more = f" and {len(same) - LISTED:,} more" if len(same) > LISTED else ""
            message = f"There are {len(same)} components of the type {kind}: {names}{more}."
            faults.append(_warning(code, message, "One is usual; use other inputs and outputs for the rest.", same[1]))
    if not ends and all(not node.tool_mode for node in nodes) and not any(_answers(node) for node in nodes):
        message = "The flow has no output component, so a run returns nothing."
        faults.append(Fault(code="no_output", message=message, fix="Add a ChatOutput.", severity="warning"))
    return faults


def _are_alternatives(nodes: Sequence[Node], flow: Flow) -> bool:
    """Whether a run reaches one of the nodes only: any two are reached by different branches of one node."""
    before = [branches_before(node.id, flow.nodes, flow.edges) for node in nodes]
    return all(
        any(one[node].isdisjoint(other[node]) for node in one.keys() & other.keys())
        for one, other in combinations(before, 2)
    )


def _answers(node: Node) -> bool:
    return node.type in OUTPUT_TYPES or any(output.get("name") == TOOL_OUTPUT for output in node.outputs)


def _warning(code: str, message: str, fix: str, node: Node, field: str | None = None) -> Fault:
    return _fault(code, message, fix, node, field, "warning")


def _fault(code: str, message: str, fix: str, node: Node, field: str | None, severity: Severity) -> Fault:
    return Fault(code=code, message=message, fix=fix, severity=severity, node=node.id, field=field)
