"""The earlier versions of a stored flow: listed, and brought back."""

from __future__ import annotations

import asyncio

from pydantic import Field

from flows.actions import SetFlow
from flows.describe.actions import describe_action
from flows.diff import diff
from flows.document import Flow
from flows.edits import Edit
from server.mcp.answers import FlowAnswer, FlowVersion, FlowVersions
from server.mcp.bench import desk_of
from server.mcp.call import Call, fail
from server.mcp.tools.flows import OneFlow
from server.mcp.tools.tool import Tool, own_tool
from server.store.flows import RevisionNotKept
from tools.approvals import NOT_ASKED, RemovalApproval
from tools.replies import bullets, clip

SHOWN: int = 20
"""How many changes an answer names."""


class ListVersions(OneFlow):
    """Asks for versions of a flow."""

    limit: int = Field(default=20, ge=1, le=100, description="How many.")
    offset: int = Field(default=0, ge=0, le=1_000, description="How many to skip.")


async def list_flow_versions(call: Call, asked: ListVersions) -> FlowVersions:
    """List the versions of a stored flow that are kept, latest first, each with when and by whom it was stored."""
    kept = await (await call.caller.flows()).revisions(asked.flow_id)
    page = [
        FlowVersion(
            version=one.version,
            at=one.at,
            author=one.author,
            name=one.name,
            node_count=one.node_count,
            edge_count=one.edge_count,
        )
        for one in kept[asked.offset : asked.offset + asked.limit]
    ]
    lines = [f"{one.version} at {one.at} by the {one.author}: {one.node_count} components" for one in page]
    return FlowVersions(text="\n".join([f"{len(kept)} version(s).", *lines]), versions=page, total=len(kept))


class RestoreFlow(OneFlow):
    """Names a version of a flow."""

    version: int = Field(ge=1, lt=2**31, description="The version, as list_flow_versions gives it.")


async def restore_flow(call: Call, asked: RestoreFlow) -> FlowAnswer:
    """Store an earlier version of a flow as its next one. The user is asked before that changes what they had."""
    async with desk_of(call, asked.flow_id) as desk:
        try:
            _, wanted = await (await call.caller.flows()).at_version(asked.flow_id, asked.version)
        except RevisionNotKept:
            fail(
                f"The flow has no version {asked.version}; nothing was done. list_flow_versions gives those that are "
                "kept.",
                "version_not_found",
            )
        current = desk.bench.flow
        edit = await asyncio.to_thread(_edit, current, wanted)
        if not edit.actions:
            return FlowAnswer(text=f"The flow is as it was at version {asked.version}.", flow=desk.entry)
        whole = any(isinstance(action, SetFlow) for action in edit.actions)
        notes = [node.id for node in desk.bench.initial_flow.nodes if node.is_note and wanted.node(node.id) is None]
        if ((whole and not desk.bench.initial_flow.is_empty) or notes) and not call.mandate.is_open("remove"):
            named = f": {', '.join(notes)}" if notes else ""
            title = f"Remove what came after version {asked.version}{named}"
            call.require(RemovalApproval(title=title, targets=notes or [asked.flow_id], why=NOT_ASKED))
        await desk.rewind("restore_flow", edit)
        changes = [describe_action(action, current) for action in edit.actions]
        more = f"\n... and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        text = f"Brought version {asked.version} back:\n{bullets([clip(one, 300) for one in changes[:SHOWN]])}{more}"
        return FlowAnswer(text=text, flow=await desk.save())


def _edit(current: Flow, wanted: Flow) -> Edit:
    return Edit(wanted, diff(current, wanted))


def version_tools() -> list[Tool]:
    """The tools."""
    return [
        own_tool(list_flow_versions, ListVersions, FlowVersions, group=("canvas", "system")),
        own_tool(restore_flow, RestoreFlow, FlowAnswer, group="canvas", scope="build", touch="changes"),
    ]
