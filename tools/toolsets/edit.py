"""Changing the flow at hand, one step a tool; each step shows on the canvas at once."""

from pydantic import JsonValue
from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows import edits as edits
from flows.actions import Configure
from flows.document import edge_text
from flows.edits import EditError
from flows.ports import input_ports
from tools.approvals import EditApproval, asking, is_free_text
from tools.replies import refused
from tools.toolsets.read import node_or_retry
from tools.workbench import Workbench


async def add_component(ctx: RunContext[Workbench], type: str, values: dict[str, JsonValue] | None = None) -> str:
    """Add one component to the canvas. Connect it afterwards.

    Args:
        type: the exact component type.
        values: field values to set, by field name.
    """
    bench = ctx.deps
    try:
        edit = edits.add_component(bench.current, bench.catalogue, type, values=values or {})
    except EditError as error:
        raise refused(error) from error
    before = {node.id for node in bench.current.nodes}
    await bench.commit(ctx, edit)
    added = next(node for node in edit.flow.nodes if node.id not in before)
    outputs = ", ".join(str(output.get("name")) for output in added.outputs)
    inputs = ", ".join(port.name for port in input_ports(added) if (added.field(port.name) or {}).get("show", True))
    return f"Added {added.id}. Outputs: {outputs or 'none'}. Inputs: {inputs or 'none'}."


async def remove_component(ctx: RunContext[Workbench], component_id: str) -> str:
    """Remove a component and every connection it has.

    Args:
        component_id: the id on the canvas.
    """
    bench = ctx.deps
    node_or_retry(bench.current, component_id)
    refusal = bench.removal_refusal([component_id])
    if refusal is not None:
        return refusal
    gone = [edge for edge in bench.current.edges if component_id in (edge.source, edge.target)]
    try:
        edit = edits.remove_component(bench.current, component_id)
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    lost = f" Connections gone with it: {'; '.join(edge.text for edge in gone)}." if gone else ""
    return f"Removed {component_id}.{lost}"


async def connect_components(
    ctx: RunContext[Workbench], source_id: str, source_output: str, target_id: str, target_input: str
) -> str:
    """Connect an output of one component to an input of another.

    Args:
        source_id: the component that gives.
        source_output: its output port; "component_as_tool" gives the component itself as an agent's tool.
        target_id: the component that takes.
        target_input: its input port.
    """
    bench = ctx.deps
    node_or_retry(bench.current, source_id)
    node_or_retry(bench.current, target_id)
    try:
        edit = edits.connect(bench.current, bench.catalogue, source_id, source_output, target_id, target_input)
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    return f"Connected {edge_text(source_id, source_output, target_id, target_input)}."


async def disconnect_components(
    ctx: RunContext[Workbench],
    source_id: str,
    target_id: str,
    source_output: str | None = None,
    target_input: str | None = None,
) -> str:
    """Remove the connections between two components, or only those of the named ports.

    Args:
        source_id: the component that gives.
        target_id: the component that takes.
        source_output: only connections from this output.
        target_input: only connections into this input.
    """
    bench = ctx.deps
    refusal = bench.removal_refusal([source_id, target_id])
    if refusal is not None:
        return refusal
    try:
        edit = edits.disconnect(bench.current, source_id, source_output, target_id, target_input)
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    return f"Disconnected {source_id} from {target_id}."


async def configure_component(
    ctx: RunContext[Workbench], component_id: str, values: dict[str, JsonValue], reason: str = ""
) -> str:
    """Set fields of a component on the canvas. Replacing a text of the user's asks them first.

    Args:
        component_id: the id on the canvas.
        values: new values by field name.
        reason: why, in a few words for the user.
    """
    bench = ctx.deps
    node = node_or_retry(bench.current, component_id)
    try:
        edit = edits.configure(bench.current, bench.catalogue, component_id, values)
    except EditError as error:
        raise refused(error) from error
    free = ctx.tool_call_approved or bench.proposal is not None or bench.texts_apply
    texts = [] if free else _texts(bench, edit)
    if len(texts) > 1:
        names = ", ".join(change.field for change in texts)
        raise ModelRetry(f"Nothing was changed. {names} hold texts of the user's: change one of them a call.")
    if texts:
        others = {name: value for name, value in values.items() if name != texts[0].field}
        if others:
            await bench.commit(ctx, edits.configure(bench.current, bench.catalogue, component_id, others))
        label = node.display_name or node.type
        raise ApprovalRequired(metadata=asking(EditApproval(edit=texts[0], reason=reason or f"Change of {label}")))
    if not edit.actions:
        return f"{component_id} already has these values; nothing was changed."
    lost = [edge for edge in bench.current.edges if edge not in edit.flow.edges]
    await bench.commit(ctx, edit)
    gone = f" Connections gone with their ports: {'; '.join(edge.text for edge in lost)}." if lost else ""
    return f"Set {', '.join(values)} of {component_id}.{gone}"


def _texts(bench: Workbench, edit: edits.Edit) -> list[Configure]:
    """The changes of texts that were on the canvas when the turn began."""
    found: list[Configure] = []
    for action in edit.actions:
        if isinstance(action, Configure):
            there = bench.started.node(action.node)
            definition = None if there is None else there.field(action.field)
            if definition is not None and is_free_text(definition) and definition.get("value") == action.old:
                found.append(action)
    return found


async def insert_component(
    ctx: RunContext[Workbench],
    type: str,
    source_id: str,
    target_id: str,
    values: dict[str, JsonValue] | None = None,
    source_output: str | None = None,
    target_input: str | None = None,
) -> str:
    """Put a new component into the connection between two others; the old connection goes.

    Args:
        type: the exact component type.
        source_id: where the connection begins.
        target_id: where it ends.
        values: field values to set.
        source_output: its output, if several connections join the two.
        target_input: its input, likewise.
    """
    bench = ctx.deps
    try:
        edit = edits.insert_between(
            bench.current,
            bench.catalogue,
            type,
            source_id,
            target_id,
            source_port=source_output,
            target_port=target_input,
            values=values,
        )
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    return f"Inserted {edit.flow.nodes[-1].id}: {'; '.join(edge.text for edge in edit.flow.edges[-2:])}."


async def replace_component(
    ctx: RunContext[Workbench], component_id: str, type: str, values: dict[str, JsonValue] | None = None
) -> str:
    """Replace a component by a new one, keeping the values and connections that still fit.

    Args:
        component_id: the one that goes.
        type: the exact type of the new one; the same type renews it.
        values: field values to set.
    """
    bench = ctx.deps
    refusal = bench.removal_refusal([component_id])
    if refusal is not None:
        return refusal
    at = next((at for at, node in enumerate(bench.current.nodes) if node.id == component_id), 0)
    try:
        edit = edits.replace_component(bench.current, bench.catalogue, component_id, type, values=values)
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    lost = f" Not kept: {'; '.join(edit.lost)}." if edit.lost else ""
    return f"Replaced {component_id} by {edit.flow.nodes[at].id}.{lost}"


async def rename_component(ctx: RunContext[Workbench], component_id: str, name: str) -> str:
    """Change the display name of a component.

    Args:
        component_id: the id on the canvas; it stays.
        name: the new name.
    """
    bench = ctx.deps
    try:
        edit = edits.rename(bench.current, component_id, name)
    except EditError as error:
        raise refused(error) from error
    if not edit.actions:
        return f"{component_id} has that name already; nothing was changed."
    await bench.commit(ctx, edit)
    return f"Renamed {component_id} to {name.strip()!r}."


async def duplicate_component(ctx: RunContext[Workbench], component_id: str) -> str:
    """Add a copy of a component with its settings, without connections.

    Args:
        component_id: the id on the canvas.
    """
    bench = ctx.deps
    try:
        edit = edits.duplicate(bench.current, component_id)
    except EditError as error:
        raise refused(error) from error
    await bench.commit(ctx, edit)
    return f"Copied {component_id} as {edit.flow.nodes[-1].id}. Connect it afterwards."


edit = FunctionToolset[Workbench](
    [
        add_component,
        remove_component,
        connect_components,
        disconnect_components,
        configure_component,
        insert_component,
        replace_component,
        rename_component,
        duplicate_component,
    ],
    max_retries=5,
    sequential=True,
    id="edit",
)
