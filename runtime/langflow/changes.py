"""One update of a flow on a Langflow server: what was changed here and there since both were the same, put together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from flows.catalogue import Catalogue
from flows.describe.actions import describe_action
from flows.diff import diff, same_up_to_order
from flows.document import Flow, JsonObject
from flows.faults import Fault
from flows.fingerprints import fingerprint
from flows.json_values import as_object
from flows.merge import combine
from runtime.langflow.documents import RemoteFlow
from runtime.langflow.mapping import There, map_flow
from runtime.langflow.secrets import with_secrets_of, withheld_secrets, without_secrets

Moved: TypeAlias = Literal["no", "layout", "content"]
"""How a flow there differs from what is known of it: not at all, only in looks, or in what it does or is called."""

LINK: Final = "langflow"
"""Where a pulled flow says where it is from."""


@dataclass(frozen=True, kw_only=True)
class Update:
    """What would be sent, and what is to be known before.

    Attributes:
        seen: the flow as it is there; None for a new one.
        flow: the flow to send.
        moved: whether the one there has changed since.
        changes: what is changed there, in words.
        named: what is named otherwise there, in words.
        clashes: our changes that do not fit, because the same place was changed differently there.
        faults: what the server does not have; errors stop the flow from being sent.
    """

    seen: RemoteFlow | None
    flow: Flow
    moved: Moved = "no"
    changes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    clashes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def body(self) -> JsonObject:
        """What the one request says."""
        whole: JsonObject = {key: self.flow.raw.get(key, "") for key in ("name", "description")}
        whole["data"] = as_object(self.flow.data)
        if self.seen is None:
            return whole
        theirs = content_of(self.seen.flow).raw
        return {key: value for key, value in whole.items() if value != theirs.get(key)}


def content_of(flow: Flow) -> Flow:
    """What is compared and sent of a flow: its name, description, nodes and edges."""
    raw = flow.raw
    return Flow({"name": flow.name, "description": flow.description, "data": raw.get("data", raw)})


def content_digest(flow: Flow) -> str:
    """A short string that is equal for flows with the same content to the letter, secrets left out."""
    text = json.dumps(without_secrets(content_of(flow)).raw, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def moved(base: Flow, theirs: Flow) -> Moved:
    """How a flow there differs from what is known of it.

    Args:
        base: what is known.
        theirs: the flow there.
    """
    if content_digest(base) == content_digest(theirs):
        return "no"
    before, after = without_secrets(content_of(base)), without_secrets(content_of(theirs))
    same = fingerprint(before) == fingerprint(after) and before.name == after.name
    return "layout" if same and before.description == after.description else "content"


def new_flow(ours: Flow, there: There, local: Catalogue, *, with_secrets: bool = False) -> Update:
    """A flow that is to be added there.

    Args:
        ours: the flow.
        there: what the server has.
        local: the component types of this engine.
        with_secrets: whether its secrets are sent.
    """
    empty = Flow.empty()
    sent, withheld = _ours(_named(ours, empty), empty, with_secrets=with_secrets)
    mapped = map_flow(sent, there, local, empty)
    named = f"Add the flow {ours.name or 'Untitled Flow'} with {len(ours.components)} components"
    return Update(
        seen=None, flow=mapped.flow, changes=(named,), named=mapped.changes, faults=(*mapped.faults, *withheld)
    )


def update_of(
    base: Flow | None,
    ours: Flow,
    seen: RemoteFlow,
    there: There,
    local: Catalogue,
    *,
    with_secrets: bool = False,
    overwrite: bool = False,
) -> Update:
    """What changes a flow there into ours, with what was changed there since.

    Args:
        base: the flow that ours was made from; None if it is not known.
        ours: the flow.
        seen: the flow as it is there now.
        there: what the server has.
        local: the component types of this engine.
        with_secrets: whether secrets that were typed in here are sent.
        overwrite: whether ours is to replace what was changed there.
    """
    theirs = content_of(seen.flow)
    sent, withheld = _ours(_named(ours, theirs if base is None else base), theirs, with_secrets=with_secrets)
    how: Moved = "no" if base is None else moved(base, theirs)
    clashes: tuple[str, ...] = ()
    if overwrite or (base is None and content_digest(ours) == content_digest(theirs)):
        result = sent
    elif base is None:
        how = "content"
        clashes = ("It is not known what the flow was like there when this one was made of it",)
        result = sent
    else:
        known = with_secrets_of(without_secrets(content_of(base)), theirs)
        combined = combine(known, sent, theirs)
        clashes = tuple(describe_action(action, theirs) for action in combined.clashes)
        result = combined.flow
    mapped = map_flow(result, there, local, theirs)
    actions = diff(theirs, mapped.flow)
    return Update(
        seen=seen,
        flow=theirs if same_up_to_order(theirs, mapped.flow) else mapped.flow,
        moved=how,
        changes=tuple(dict.fromkeys(describe_action(action, mapped.flow) for action in actions)),
        named=mapped.changes,
        clashes=clashes,
        faults=(*mapped.faults, *withheld),
    )


def _named(ours: Flow, base: Flow) -> Flow:
    """Our content, with the name and description of what it was made from where it has none of its own."""
    kept = {key: base.raw.get(key, "") for key in ("name", "description") if key not in ours.raw}
    raw: JsonObject = {**content_of(ours).raw, **kept}
    return Flow(raw if raw["name"] else {**raw, "name": base.name})


def _ours(ours: Flow, theirs: Flow, *, with_secrets: bool) -> tuple[Flow, list[Fault]]:
    """Our flow as it may be sent, and the secrets that are not: what is there stays in their places."""
    if with_secrets:
        return with_secrets_of(ours, theirs), []
    withheld = [
        Fault(
            code="secret_withheld",
            message=f"{node}: the secret in {field} is not sent.",
            fix="Set it there, name a variable instead, or send it: --with-secrets",
            severity="warning",
            node=node,
            field=field,
        )
        for node, field in withheld_secrets(ours, theirs)
    ]
    return with_secrets_of(without_secrets(ours), theirs), withheld
