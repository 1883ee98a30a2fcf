"""What a change of the flow asks before it is made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from pydantic_ai import ApprovalRequired, RunContext

from flows.actions import Amend, Configure, FlowAction, SelectOutput, SetConnectionMode, SetToolMode
from flows.document import Flow
from flows.edits import Edit
from flows.fields.secrets import is_secret
from flows.json_values import Json
from runtime.telemetry import log_event
from tools.approvals import (
    NOT_ASKED,
    UNNAMED_HOST,
    Approval,
    EditApproval,
    OutboundApproval,
    RemovalApproval,
    SecretApproval,
    approval_metadata,
    is_free_text,
)
from tools.consent.ask import Given, ask, carried, consents
from tools.consent.hosts import added_hosts
from tools.consent.losses import HiddenText, Losses, hidden_texts, losses
from tools.consent.rules import Act, uncovered
from tools.replies import clip
from tools.workbench import Workbench

EditQuestion: TypeAlias = EditApproval | RemovalApproval | SecretApproval | OutboundApproval
"""What an edit can ask."""

SHOWN_TEXT = 300
"""How many characters of a replaced text a question shows."""


@dataclass(frozen=True)
class Questions:
    """What an edit asks and the user has not approved for this call.

    Attributes:
        texts: the texts of the user's that it replaces, and the values that it changes without being asked to.
        unasked: those of them that the message does not ask for.
        removal: what it takes, hides or changes otherwise.
        secret: a secret that it replaces.
        outbound: the hosts that it brings into the flow.
    """

    texts: tuple[Configure, ...] = ()
    unasked: tuple[Configure, ...] = ()
    removal: RemovalApproval | None = None
    secret: SecretApproval | None = None
    outbound: OutboundApproval | None = None

    def __bool__(self) -> bool:
        return bool(self.texts) or self.first is not None

    @property
    def first(self) -> RemovalApproval | SecretApproval | OutboundApproval | None:
        """The first question that is not about a text or a value."""
        return self.removal or self.secret or self.outbound

    def edit(self, reason: str, done: Sequence[str] = ()) -> EditApproval:
        """The question about the texts and values.

        Args:
            reason: why they change, for the user.
            done: what the same call has done already.
        """
        first, *also = self.texts
        why = NOT_ASKED if self.unasked else ""
        return EditApproval(edit=first, reason=reason, also=tuple(also), done=list(done), why=why)


def open_questions(
    ctx: RunContext[Workbench], edit: Edit, before: Flow | None = None, *, assumed: Sequence[Approval] = ()
) -> Questions:
    """What an edit of the canvas asks; one of a proposal is asked about as a whole, but for the hosts that it brings.

    Args:
        ctx: the tool call.
        edit: the edit.
        before: the flow before the edit, by default the current one.
        assumed: what is taken for approved, beside what was.
    """
    bench, given = ctx.deps, consents(ctx)
    given = replace(given, approvals=(*given.approvals, *assumed))
    outbound = outbound_question(bench, added_hosts(bench, edit.flow), given, "Let the flow send data to")
    if bench.proposal is not None:
        return Questions(outbound=outbound)
    before = bench.current if before is None else before
    hidden = hidden_texts(bench.initial_flow, before, edit.flow, bench.catalogue)
    lost = losses(bench.initial_flow, before, edit)
    changes = _changes(bench, edit.actions)
    asked = set(uncovered(bench, [*_acts(lost), *(act for act, _ in changes)]))
    texts = [one for act, one in changes if isinstance(one, Configure) and act in asked and act.kind in {"set", "text"}]
    unasked = [one for one in texts if not bench.is_requested_text(one)]
    unasked_fields = uncovered(bench, [Act("text", one.node, field=one.field) for one in hidden])
    if bench.auto_edit:  # plans and edits are agreed to, but not what others' text may have ordered
        texts = [one for one in texts if bench.tainted and _holds_text(cast("Json", one.old))]
        asked_fields = {(act.target, act.field) for act in unasked_fields if bench.tainted}
        hidden = [one for one in hidden if (one.node, one.field) in asked_fields]
    else:
        texts = text_changes(bench, edit.actions, texts)
    texts = [one for one in texts if not bench.is_requested_text(one) and not given.covers_text(one)]
    modes = [act.target for act, one in changes if act in asked and not isinstance(one, Configure)]
    removal = _removal(before, lost, asked, hidden, modes, fields_asked=not unasked_fields)
    secrets = [act for act in asked if act.kind == "secret"]
    return Questions(
        texts=tuple(texts),
        unasked=tuple(one for one in texts if one in unasked),
        removal=None if removal is None or given.covers(removal) else removal,
        secret=next(iter(_secret_questions(secrets, given)), None),
        outbound=outbound,
    )


def ask_before_edit(ctx: RunContext[Workbench], edit: Edit, before: Flow | None = None) -> None:
    """Return when an edit does nothing to what the user had, or what they have approved; suspend the call otherwise.

    Args:
        ctx: the tool call.
        edit: the edit, which is not made yet.
        before: the flow before the edit, by default the current one.

    Raises:
        ApprovalRequired: it has not been approved yet.
    """
    questions = open_questions(ctx, edit, before)
    if questions.texts:
        raise suspended(ctx, questions.edit(""))
    if questions.first is not None:
        raise suspended(ctx, questions.first)
    keep_hosts(ctx.deps, edit.flow)


def ask_before_build(ctx: RunContext[Workbench], flow: Flow) -> None:
    """Return when a new flow sends only to hosts that the user has named or approved; suspend the call otherwise.

    Args:
        ctx: the tool call.
        flow: the flow, which is not proposed yet.

    Raises:
        ApprovalRequired: they have not been approved yet.
    """
    ask_before_sending(ctx, added_hosts(ctx.deps, flow), f"Build {flow.name!r}, which sends data to")
    keep_hosts(ctx.deps, flow)


def ask_before_sending(
    ctx: RunContext[Workbench], hosts: Iterable[str], title: str, kind: Literal["send", "run"] = "send"
) -> None:
    """Return when the user's words, or an approval, cover sending to hosts; suspend the call otherwise.

    Args:
        ctx: the tool call.
        hosts: where to.
        title: the question, without the hosts.
        kind: whether a change names them, or a run would send to them.

    Raises:
        ApprovalRequired: they have not been approved yet.
    """
    question = outbound_question(ctx.deps, hosts, consents(ctx), title, kind)
    if question is not None:
        log_event("assistant.outbound.asked", hosts=len(question.hosts))
        ask(ctx, question)


def outbound_question(
    bench: Workbench, hosts: Iterable[str], given: Given, title: str, kind: Literal["send", "run"] = "send"
) -> OutboundApproval | None:
    """The question about those of some hosts that are not covered; None when all are, or were approved."""
    asked = [act.target for act in uncovered(bench, [Act(kind, host) for host in hosts])]
    question = OutboundApproval(title=f"{title} {', '.join(asked)}", hosts=asked, why=UNNAMED_HOST)
    return question if asked and not given.covers(question) else None


def keep_hosts(bench: Workbench, flow: Flow) -> None:
    """Take the hosts that come with a flow for allowed: they were asked about where they had to be."""
    if bench.host_rule != "ask":
        bench.allowed_hosts |= set(added_hosts(bench, flow))


def suspended(ctx: RunContext[Workbench], approval: EditQuestion) -> ApprovalRequired:
    """The exception that suspends a call to ask, and keeps what was approved for it before."""
    log_event("assistant.edit.asked", kind=approval.kind)
    return ApprovalRequired(metadata=approval_metadata(approval) | carried(ctx))


def text_changes(bench: Workbench, actions: Iterable[FlowAction], also: Sequence[Configure] = ()) -> list[Configure]:
    """The changes of texts that were on the canvas when the turn began, but for those that the user has dictated.

    Args:
        bench: the workbench.
        actions: the changes.
        also: others that are asked about.
    """
    found: list[Configure] = []
    for action in actions:
        if isinstance(action, Configure):
            node = bench.initial_flow.node(action.node)
            field = None if node is None else node.field(action.field)
            replaces = field is not None and is_free_text(field) and field.get("value") == action.old
            if action in also or (replaces and not bench.is_requested_text(action)):
                found.append(action)
    return found


def _holds_text(value: Json) -> bool:
    """Whether a value holds a text, by itself or in a list or table."""
    match value:
        case str():
            return bool(value.strip())
        case list():
            return any(map(_holds_text, value))
        case dict():
            return any(map(_holds_text, value.values()))
        case _:
            return False


def _acts(lost: Losses) -> list[Act]:
    return [
        *(Act("remove", node) for node in lost.removed),
        *(Act("replace", node) for node in lost.replaced),
        *(Act("cut", edge.text, (edge.source, edge.target)) for edge in lost.cut),
        *(Act("rewire", one.edge.text, (one.edge.source, one.source, one.edge.target)) for one in lost.rewired),
    ]


def _changes(bench: Workbench, actions: Iterable[FlowAction]) -> list[tuple[Act, FlowAction]]:
    """What actions change of the components that the turn began with; filling an empty field is no change."""
    found: list[tuple[Act, FlowAction]] = []
    for action in actions:
        match action:
            case Configure():
                node = bench.initial_flow.node(action.node)
                field = None if node is None else node.field(action.field)
                if field is None or not field.get("value") or field.get("value") != action.old:
                    continue
                kind = "secret" if is_secret(field) else "text" if is_free_text(field) else "set"
                found.append((Act(kind, action.node, field=action.field), action))
            case SelectOutput() | SetConnectionMode() | SetToolMode() | Amend():
                if bench.initial_flow.node(action.node) is not None:
                    found.append((Act("set", action.node), action))
            case _:
                continue
    return found


def _removal(
    before: Flow,
    lost: Losses,
    asked: set[Act],
    hidden: Sequence[HiddenText],
    modes: Sequence[str],
    *,
    fields_asked: bool,
) -> RemovalApproval | None:
    gone = [node for node in (*lost.removed, *lost.replaced) if {Act("remove", node), Act("replace", node)} & asked]
    with_them = [edge.text for edge in before.edges if edge.source in gone or edge.target in gone]
    edges = [act.target for act in _acts(lost) if act in asked and act.kind in {"cut", "rewire"}]
    fields = [f"{one.node}.{one.field}" for one in hidden]
    targets = list(dict.fromkeys((*gone, *with_them, *edges, *fields, *modes)))
    if not targets:
        return None
    verb = "Remove" if gone or edges else "Replace the text of" if fields else "Change"
    detail = "\n".join(f"{one.edge}: “{clip(one.text, SHOWN_TEXT)}”" for one in hidden)
    return RemovalApproval(
        title=f"{verb} {', '.join(gone or edges or fields or dict.fromkeys(modes))}",
        detail=detail,
        targets=targets,
        why=NOT_ASKED if gone or edges or modes or not fields_asked else "",
    )


def _secret_questions(secrets: Iterable[Act], given: Given) -> list[SecretApproval]:
    names = sorted(f"{act.target}.{act.field}" for act in secrets)
    asked = [
        SecretApproval(title=f"Replace the secret {name}", variable=name, use="replace", why=NOT_ASKED)
        for name in names
    ]
    return [one for one in asked if not given.covers(one)]
