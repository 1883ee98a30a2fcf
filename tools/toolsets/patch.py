"""Editing the current flow in one call: several changes, all of them or none."""

from collections.abc import Mapping

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError
from flows.spec.fragment import parse_fragment
from flows.spec.patch import Patch, patch
from tools.approvals import held_metadata, rest_metadata
from tools.consent.along import along, ends_along
from tools.consent.ask import carried
from tools.consent.declared import has_effects
from tools.consent.gate import EditQuestion, Questions, keep_hosts, open_questions, suspended
from tools.consent.install import install_for
from tools.consent.parts import carried_out, split
from tools.consequences import new_errors
from tools.replies import retry_edit
from tools.workbench import Workbench


@has_effects("edit", "replace_text", "remove", "install", "reach")
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
    before, types = bench.current, [node.type for node in parse_fragment(changes)[0].spec.nodes]
    needed = bench.bundles.needed(types, bench.catalogue)
    catalogue = bench.bundles.with_missing(types, bench.catalogue) if needed else bench.catalogue
    found = _patch_or_retry(bench, changes, catalogue)
    if not found.edit.actions and ctx.tool_call_approved:
        return "The user accepted it: the flow is like this now."
    if not found.edit.actions:
        return "The flow is like this already; nothing was changed."
    questions = open_questions(ctx, found.edit)
    if questions:
        raise await _suspended(ctx, questions, changes)
    if bench.waits:
        raise ApprovalRequired(metadata=held_metadata() | carried(ctx))
    if needed:  # the user is asked only for changes that can be made
        problem = await install_for(ctx, types)
        if problem:
            return problem
        found = _patch_or_retry(bench, changes, bench.catalogue)
    keep_hosts(bench, found.edit.flow)
    await bench.commit(ctx.emit, found.edit)
    bench.names.update(found.ids)
    return "\n".join(filter(None, (_report(found), new_errors(bench, before, warnings=True))))


def _patch_or_retry(bench: Workbench, changes: str, catalogue: Catalogue) -> Patch:
    """The changes as an edit; one that is refused becomes a retry."""
    try:
        return patch(bench.current, changes, catalogue, bench.names)
    except EditError as error:
        raise retry_edit(error) from error


async def _suspended(ctx: RunContext[Workbench], questions: Questions, changes: str) -> ApprovalRequired:
    """Do what needs no answer, and return the exception that asks for the rest."""
    bench = ctx.deps
    parts = None
    if not bench.waits:
        parts = split(
            changes,
            bench.current,
            lambda flow, text, names: _patch(bench, flow, text, names),
            lambda part: bool(open_questions(ctx, part.edit)),
        )
    done = [] if parts is None else parts.lines
    if parts is not None:
        keep_hosts(bench, parts.done.edit.flow)
        await bench.commit(ctx.emit, parts.done.edit)
        bench.names.update(parts.done.ids)
        questions = open_questions(ctx, _patch(bench, bench.current, parts.rest).edit)
    if questions.texts:
        first, *also = questions.texts
        reason = f"Change of {_name(bench, first.node)}" + (f" and {len(also)} more texts" if also else "")
        question = questions.edit(reason, done)
    elif questions.removal is not None:
        question = questions.removal.model_copy(update={"done": done})
    elif questions.first is not None:
        question = questions.first
    else:
        raise AssertionError("the rest of a split call asks nothing")
    rest = changes if parts is None else parts.rest
    asked = suspended(ctx, question.model_copy(update={"along": _along(ctx, rest, question)}))
    if parts is not None:
        asked.metadata = (asked.metadata or {}) | rest_metadata({"changes": parts.rest})
    return asked


def _along(ctx: RunContext[Workbench], changes: str, question: EditQuestion) -> list[str]:
    """What the call does once this question is approved, beside what the question shows."""
    bench = ctx.deps
    lines, part = carried_out(
        changes,
        bench.current,
        lambda flow, text, names: _patch(bench, flow, text, names),
        lambda part: bool(open_questions(ctx, part.edit, assumed=(question,))),
    )
    lost = [] if part is None else ends_along(part.edit, question)
    return [*along(changes, bench.current, lines, question, bench.names), *lost]


def _patch(bench: Workbench, flow: Flow, text: str, names: Mapping[str, str] | None = None) -> Patch:
    return patch(flow, text, bench.catalogue, {**bench.names, **(names or {})})


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
