"""What the routes of stored flows take and give, as models."""

from __future__ import annotations

from typing import TypeAlias

from pydantic import Field

from agent.contract.model import ContractModel, Page, Received
from server.requests.page import PageQuery, SearchQuery, WholeNumber
from server.store.flows import KEPT_REVISIONS, FlowEntry, Revision
from tools.json_types import ActionJson, FlowDocument, FlowObject


class FlowPage(Page):
    """Stored flows, last changed first."""

    flows: list[FlowEntry]


class FlowQuery(SearchQuery):
    """Asks for a page of stored flows.

    Attributes:
        stale: whether only flows with components of an earlier engine are wanted.
    """

    stale: bool = False


class _Entry(Received):
    """What lists show of a stored flow."""

    id: str
    name: str
    node_count: int
    edge_count: int
    version: int
    updated_at: str


class StaleFlow(_Entry):
    """A stored flow with components of an earlier engine.

    Attributes:
        id: a UUID.
        name: the name of the flow.
        node_count: how many nodes it has.
        edge_count: how many edges it has.
        version: counts its revisions, from 1.
        updated_at: when it was last written, ISO 8601 in UTC.
        stale: the types of these components.
    """

    stale: list[str]


class StaleFlowPage(Page):
    """Stored flows with components of an earlier engine, last changed first."""

    flows: list[StaleFlow]


class SeenVersion(ContractModel):
    """The version that a change is based on; the header `If-Match` says the same.

    Attributes:
        version: the version.
    """

    version: int | None = Field(default=None, gt=0)


class UpdateRequest(SeenVersion):
    """Asks for the engine's current components in a flow.

    Attributes:
        preview: whether only to say what would change.
    """

    preview: bool = False


class UpdatedComponent(Received):
    """A component that was updated.

    Attributes:
        node: its node.
        type: its type.
        code: the hash of the code that it had.
        current: the hash of the engine's code.
    """

    node: str
    type: str
    code: str
    current: str


class UpdatedFlow(_Entry):
    """A flow whose components were updated, or would be.

    Attributes:
        id: a UUID.
        name: the name of the flow.
        node_count: how many nodes it has.
        edge_count: how many edges it has.
        version: the version that is stored now.
        updated_at: when it was last written, ISO 8601 in UTC.
        components: what was updated.
        changes: the changes in words.
        actions: the changes.
        lost: the values and connections that could not be kept.
    """

    components: list[UpdatedComponent]
    changes: list[str]
    actions: list[ActionJson]
    lost: list[str]


class WholeFlow(_Entry):
    """A stored flow with its document.

    Attributes:
        id: a UUID.
        name: the name of the flow.
        node_count: how many nodes it has.
        edge_count: how many edges it has.
        version: counts its revisions, from 1.
        updated_at: when it was last written, ISO 8601 in UTC.
        flow: the document.
    """

    flow: FlowObject


class FlowToStore(ContractModel):
    """A flow to store; instead of it, the document itself may be sent.

    Attributes:
        flow: the document.
        name: what it is called instead of its own name.
    """

    flow: FlowObject
    name: str | None = None


class FlowReplacement(SeenVersion):
    """The next revision of a flow; instead of `flow`, the document itself may be sent.

    Attributes:
        flow: the document.
        name: what it is called instead of its own name.
    """

    flow: FlowObject
    name: str | None = None


class FlowActions(SeenVersion):
    """A change of a flow.

    Attributes:
        actions: what changes it, in order; all of them are done, or none.
    """

    actions: list[ActionJson] = Field(min_length=1, max_length=1_000)


class SeveralFlows(ContractModel):
    """Several flows in one file."""

    flows: list[FlowObject]


ImportDocument: TypeAlias = FlowDocument | list[FlowDocument] | SeveralFlows
"""A file with one flow or several; a zip archive has one in each of its files."""


class SkippedFlow(Received):
    """What an archive has that is no flow.

    Attributes:
        where: its file, and the place in it.
        code: what is wrong, as in errors.
        message: the same in words.
        fix: what to do.
    """

    where: str
    code: str
    message: str
    fix: str


class ImportedFlows(Received):
    """The flows that an import has stored, in the order of the file.

    Attributes:
        flows: the flows.
        total: how many they are.
        skipped: what an archive has that is no flow, and was not stored.
    """

    flows: list[FlowEntry]
    total: int
    skipped: list[SkippedFlow] = Field(default_factory=list[SkippedFlow])


class RevisionQuery(PageQuery):
    """Asks for a page of versions; all that are kept fit on one."""

    limit: WholeNumber = Field(default=KEPT_REVISIONS, ge=1, le=KEPT_REVISIONS)


class RevisionPage(Page):
    """The versions of a flow that are kept, latest first."""

    revisions: list[Revision]


class _Change(Received):
    changes: list[str]
    actions: list[ActionJson]


class OneRevisionReply(_Change):
    """A version of a flow, and what it changed.

    Attributes:
        version: the version, from 1.
        at: when it was stored, ISO 8601 in UTC.
        author: `client` or `assistant`.
        session: the conversation of the turn that stored it, or empty.
        turn: the id of that turn, or empty.
        name: the flow's name then.
        node_count: how many nodes it had.
        edge_count: how many edges it had.
        flow: the flow as it was.
        changes: what it changed, in words; empty if the version before it is not kept.
        actions: the same as flow actions.
    """

    version: int
    at: str
    author: str
    session: str
    turn: str
    name: str
    node_count: int
    edge_count: int
    flow: FlowObject


class DiffQuery(ContractModel):
    """Asks what differs between two versions.

    Attributes:
        against: the version to compare with; the one before if it is missing.
    """

    against: WholeNumber | None = Field(default=None, ge=1, lt=2**31)


class RevisionDiff(_Change):
    """What leads from one version to another.

    Attributes:
        version: the version that the changes lead to.
        against: the version that they begin at.
        changes: what differs, in words.
        actions: the same as flow actions; applied to the flow of `against` they give that of `version`.
    """

    version: int
    against: int
