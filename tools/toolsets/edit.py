"""Editing the current flow, one step a tool; each step shows on the canvas at once."""

from collections.abc import Callable, Sequence
from typing import ParamSpec

from pydantic import JsonValue
from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows import edits
from flows.document import Edge, edge_text
from flows.edits import Edit, EditError
from flows.ports import input_ports
from tools.approvals import held_metadata
from tools.consent.along import ends_along
from tools.consent.ask import carried
from tools.consent.declared import has_effects
from tools.consent.gate import ask_before_edit, keep_hosts, open_questions, suspended
from tools.consent.install import install_for
from tools.consequences import reports_new_errors
from tools.replies import retry_edit
from tools.toolsets.read import node_or_retry
from tools.workbench import Workbench

P = ParamSpec("P")


def _attempt(make: Callable[P, Edit], *args: P.args, **options: P.kwargs) -> Edit:
    """Make an edit; a refused one becomes a retry."""
    try:
        return make(*args, **options)
    except EditError as error:
        raise retry_edit(error) from error


async def _commit(ctx: RunContext[Workbench], make: Callable[P, Edit], *args: P.args, **options: P.kwargs) -> Edit:
    """Make an edit and apply it if it changes anything; what it takes from the user is asked first."""
    edit = _attempt(make, *args, **options)
    if edit.actions:
        ask_before_edit(ctx, edit)
        await ctx.deps.commit(ctx.emit, edit)
    return edit


@has_effects("edit", "install", "reach")
@reports_new_errors
async def add_component(ctx: RunContext[Workbench], type: str, values: dict[str, JsonValue] | None = None) -> str:
    """Add one component to the canvas. Connect it afterwards.

    Args:
        type: the exact component type.
        values: field values to set, by field name.
    """
    bench = ctx.deps
    problem = await install_for(ctx, [type])
    if problem:
        return problem
    before = {node.id for node in bench.current.nodes}
    edit = await _commit(ctx, edits.add_component, bench.current, bench.catalogue, type, values=values or {})
    added = next(node for node in edit.flow.nodes if node.id not in before)
    outputs = ", ".join(str(output.get("name")) for output in added.outputs)
    inputs = ", ".join(port.name for port in input_ports(added) if (added.field(port.name) or {}).get("show", True))
    return f"Added {added.id}. Outputs: {outputs or 'none'}. Inputs: {inputs or 'none'}."


@has_effects("remove")
@reports_new_errors
async def remove_component(ctx: RunContext[Workbench], component_id: str) -> str:
    """Remove a component and every connection it has.

    Args:
        component_id: the id on the canvas.
    """
    bench = ctx.deps
    node_or_retry(bench.current, component_id)
    before = bench.current.edges
    edit = await _commit(ctx, edits.remove_component, bench.current, component_id)
    return f"Removed {component_id}.{_lost_edges('Connections gone with it', before, edit)}"


@has_effects("edit", "replace_text")
@reports_new_errors
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
    ends = (source_id, source_output, target_id, target_input)
    await _commit(ctx, edits.connect, bench.current, bench.catalogue, *ends)
    return f"Connected {edge_text(*ends)}."


@has_effects("remove")
@reports_new_errors
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
    await _commit(ctx, edits.disconnect, ctx.deps.current, source_id, source_output, target_id, target_input)
    return f"Disconnected {source_id} from {target_id}."


@has_effects("edit", "replace_text", "remove", "reach")
@reports_new_errors
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
    edit = _attempt(edits.configure, bench.current, bench.catalogue, component_id, values)
    questions = open_questions(ctx, edit)
    if len(questions.texts) > 1 and not questions.unasked:
        names = ", ".join(change.field for change in questions.texts)
        raise ModelRetry(f"Nothing was changed. {names} contain the user's text; change one per call.")
    if questions.texts:
        others = {} if bench.waits else _asking_nothing(ctx, component_id, values)
        if others:
            await bench.commit(ctx.emit, edits.configure(bench.current, bench.catalogue, component_id, others))
        reason = reason or f"Change of {node.display_name or node.type}"
        question = questions.edit(reason, list(others))
        raise suspended(ctx, question.model_copy(update={"along": ends_along(edit, question)}))
    if questions.first is not None:
        raise suspended(ctx, questions.first.model_copy(update={"along": ends_along(edit, questions.first)}))
    if bench.waits:
        raise ApprovalRequired(metadata=held_metadata() | carried(ctx))
    if not edit.actions and ctx.tool_call_approved:
        return f"The user accepted it: {component_id} has these values now."
    if not edit.actions:
        return f"{component_id} already has these values; nothing was changed."
    before = bench.current.edges
    keep_hosts(bench, edit.flow)
    await bench.commit(ctx.emit, edit)
    return f"Set {', '.join(values)} of {component_id}.{_lost_edges('Connections gone with their ports', before, edit)}"


def _asking_nothing(
    ctx: RunContext[Workbench], component_id: str, values: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    """Those of several values of which none asks anything."""
    bench = ctx.deps
    found = dict[str, JsonValue]()
    for name, value in values.items():
        one = edits.configure(bench.current, bench.catalogue, component_id, {name: value})
        if one.actions and not open_questions(ctx, one):
            found[name] = value
    return found


def _lost_edges(heading: str, before: Sequence[Edge], edit: Edit) -> str:
    lost = [edge.text for edge in before if edge not in edit.flow.edges]
    return f" {heading}: {'; '.join(lost)}." if lost else ""


@has_effects("edit", "install", "reach")
@reports_new_errors
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
    problem = await install_for(ctx, [type])
    if problem:
        return problem
    edit = await _commit(
        ctx,
        edits.insert_between,
        ctx.deps.current,
        ctx.deps.catalogue,
        type,
        source_id,
        target_id,
        source_port=source_output,
        target_port=target_input,
        values=values,
    )
    return f"Inserted {edit.flow.nodes[-1].id}: {'; '.join(edge.text for edge in edit.flow.edges[-2:])}."


@has_effects("edit", "remove", "install", "reach")
@reports_new_errors
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
    problem = await install_for(ctx, [type])
    if problem:
        return problem
    index = next((index for index, node in enumerate(bench.current.nodes) if node.id == component_id), 0)
    edit = await _commit(
        ctx, edits.replace_component, bench.current, bench.catalogue, component_id, type, values=values
    )
    lost = f" Not kept: {'; '.join(edit.lost)}." if edit.lost else ""
    return f"Replaced {component_id} by {edit.flow.nodes[index].id}.{lost}"


@has_effects("edit")
@reports_new_errors
async def rename_component(ctx: RunContext[Workbench], component_id: str, name: str) -> str:
    """Change the display name of a component.

    Args:
        component_id: the id on the canvas; it stays.
        name: the new name.
    """
    edit = await _commit(ctx, edits.rename, ctx.deps.current, component_id, name)
    if not edit.actions:
        return f"{component_id} has that name already; nothing was changed."
    return f"Renamed {component_id} to {name.strip()!r}."


@has_effects("edit")
@reports_new_errors
async def duplicate_component(ctx: RunContext[Workbench], component_id: str) -> str:
    """Add a copy of a component with its settings, without connections.

    Args:
        component_id: the id on the canvas.
    """
    edit = await _commit(ctx, edits.duplicate, ctx.deps.current, component_id)
    return f"Copied {component_id} as {edit.flow.nodes[-1].id}. Connect it afterwards."


edit_tools = FunctionToolset[Workbench](
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
