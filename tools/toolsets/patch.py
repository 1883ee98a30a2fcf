"""Editing the current flow in one call: several changes, all of them or none."""

from collections.abc import Iterable

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.actions import Configure, FlowAction
from flows.edits import EditError
from flows.spec.patch import Patch, patch
from tools.approvals import EditApproval, approval_metadata, held_metadata, is_free_text
from tools.consequences import new_errors
from tools.replies import retry_edit
from tools.workbench import Workbench


async def edit_flow(ctx: RunContext[Workbench], changes: str) -> str:
    """Change the flow on the canvas: every line, or nothing when one is wrong. Replacing the user's texts asks them.

    Args:
        changes: only what changes, in the form of a spec; components go by id or display name:
            nodes:
              P: Prompt Template
            edges:
              A.message -> P.text
            config:
              P.template: Hi {text}
            names:
              P: Greeting
            remove:
              A.message -> B.input_value
              C
            A new edge into an input that takes one replaces the old. An existing id under nodes gets a new type.
    """
    bench = ctx.deps
    before = bench.current
    try:
        found = patch(before, changes, bench.catalogue, bench.names)
    except EditError as error:
        raise retry_edit(error) from error
    if not found.edit.actions and ctx.tool_call_approved:
        return "The user accepted it: the flow is like this now."
    if not found.edit.actions:
        return "The flow is like this already; nothing was changed."
    for nodes in found.removals:
        refusal = bench.removal_refusal(nodes)
        if refusal is not None:
            return refusal
    approved = ctx.tool_call_approved or bench.proposal is not None or not bench.edits_need_approval
    texts = [] if approved else text_changes(bench, found.edit.actions)
    if texts:
        first, *also = texts
        reason = f"Change of {_name(bench, first.node)}" + (f" and {len(also)} more texts" if also else "")
        approval = EditApproval(edit=first, reason=reason, also=tuple(also))
        raise ApprovalRequired(metadata=approval_metadata(approval))
    if bench.waits:
        raise ApprovalRequired(metadata=held_metadata())
    await bench.commit(ctx.emit, found.edit)
    bench.names.update(found.ids)
    return "\n".join(filter(None, (_report(found), new_errors(bench, before, warnings=True))))


def text_changes(bench: Workbench, actions: Iterable[FlowAction]) -> list[Configure]:
    """The changes of texts that were on the canvas when the turn began, but for those that the user has dictated."""
    found: list[Configure] = []
    for action in actions:
        if isinstance(action, Configure):
            node = bench.initial_flow.node(action.node)
            field = None if node is None else node.field(action.field)
            replaces = field is not None and is_free_text(field) and field.get("value") == action.old
            if replaces and not bench.asked_for(action):
                found.append(action)
    return found


def _name(bench: Workbench, node_id: str) -> str:
    node = bench.current.node(node_id)
    return node_id if node is None else node.display_name or node.type


def _report(found: Patch) -> str:
    """What a model cannot know from its own call: the ids of new components, and what went without being named."""
    new = ", ".join(f"{name} is {node}" for name, node in found.ids.items() if name != node)
    gone = "; ".join((*found.replaced, *found.edit.lost))
    parts = (f"Changed ({len(found.edit.actions)}).", new and f"{new}.", gone and f"Gone with it: {gone}.")
    return " ".join(filter(None, parts))


patch_tools = FunctionToolset[Workbench]([edit_flow], max_retries=5, sequential=True, id="patch")
