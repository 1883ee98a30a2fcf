"""What a change asks before it is made: texts of the user's that it replaces, and what it takes without being asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_ai import ApprovalRequired, RunContext

from flows.actions import Configure, FlowAction
from flows.document import Flow
from flows.edits import Edit
from runtime.telemetry import log_event
from tools.approvals import EditApproval, RemovalApproval, approval_metadata, is_free_text
from tools.consent.ask import ask, carried, consents
from tools.consent.losses import HiddenText, Losses, hidden_texts, losses
from tools.consent.rules import unasked_losses
from tools.replies import clip
from tools.workbench import Workbench

SHOWN_TEXT = 300
"""How many characters of a replaced text a question shows."""


@dataclass(frozen=True)
class Questions:
    """What an edit asks and the user has not approved for this call.

    Attributes:
        texts: the texts of the user's that it replaces.
        removal: what it takes or hides.
    """

    texts: tuple[Configure, ...] = ()
    removal: RemovalApproval | None = None

    def __bool__(self) -> bool:
        return bool(self.texts) or self.removal is not None


def open_questions(ctx: RunContext[Workbench], edit: Edit, before: Flow | None = None) -> Questions:
    """What an edit of the canvas asks; one of a proposal asks nothing, for it is asked about as a whole.

    Args:
        ctx: the tool call.
        edit: the edit.
        before: the flow before the edit, by default the current one.
    """
    bench, given = ctx.deps, consents(ctx)
    if bench.proposal is not None:
        return Questions()
    before = bench.current if before is None else before
    texts = list[Configure]()
    hidden = list[HiddenText]()
    if bench.edits_need_approval:
        texts = [one for one in text_changes(bench, edit.actions) if not given.covers_text(one)]
        hidden = hidden_texts(bench.initial_flow, before, edit.flow, bench.catalogue)
    removal = _removal(before, unasked_losses(bench, losses(bench.initial_flow, before, edit)), hidden)
    return Questions(tuple(texts), None if removal is None or given.covers(removal) else removal)


def ask_before_edit(ctx: RunContext[Workbench], edit: Edit, before: Flow | None = None) -> None:
    """Return when an edit takes nothing from the user, or what they have approved; suspend the call otherwise.

    Args:
        ctx: the tool call.
        edit: the edit, which is not made yet.
        before: the flow before the edit, by default the current one.

    Raises:
        ApprovalRequired: it has not been approved yet.
    """
    removal = open_questions(ctx, edit, before).removal
    if removal is not None:
        log_event("assistant.edit.asked", components=removal.targets)
        ask(ctx, removal)


def suspended(ctx: RunContext[Workbench], approval: EditApproval | RemovalApproval) -> ApprovalRequired:
    """The exception that suspends a call to ask, and keeps what was approved for it before."""
    return ApprovalRequired(metadata=approval_metadata(approval) | carried(ctx))


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


def _removal(before: Flow, lost: Losses, hidden: list[HiddenText]) -> RemovalApproval | None:
    gone = (*lost.removed, *lost.replaced)
    with_them = [edge.text for edge in before.edges if edge.source in gone or edge.target in gone]
    edges = [edge.text for edge in (*lost.cut, *(one.edge for one in lost.rewired))]
    fields = [f"{one.node}.{one.field}" for one in hidden]
    targets = list(dict.fromkeys((*gone, *with_them, *edges, *fields)))
    if not targets:
        return None
    verb = "Remove" if gone or edges else "Replace the text of"
    detail = "\n".join(f"{one.edge}: “{clip(one.text, SHOWN_TEXT)}”" for one in hidden)
    return RemovalApproval(title=f"{verb} {', '.join(gone or edges or fields)}", detail=detail, targets=targets)
