"""Stored flows: listed, made, built from spec text or a starter flow, checked, run and deleted."""

from __future__ import annotations

import asyncio
from typing import Final

from pydantic import Field

from flows.describe.diagrams import ascii_graph
from flows.document import Flow
from server.mcp.answers import (
    Answer,
    FlowAnswer,
    FlowDeleted,
    FlowList,
    FlowMade,
    FlowRan,
    FlowRef,
    ListedFlow,
    RunOutcome,
    shortened,
)
from server.mcp.bench import desk_of
from server.mcp.call import SESSION, Call, ToolFailed, fail
from server.mcp.tools.edits import refuse_keys
from server.mcp.tools.tool import Arguments, Tool, own_tool
from server.store.flows import Author
from tools.approvals import NOT_ASKED, RemovalApproval
from tools.replies import clip
from tools.toolsets.build import AGAIN, CORRECT

PAGE: Final = 50
"""How many flows a list has at most."""

GRAPH: Final = 600
"""Characters of a flow's graph in a list."""


class ListFlows(Arguments):
    """Asks for stored flows."""

    query: str = Field(default="", max_length=200, description="Only flows whose names contain it.")
    limit: int = Field(default=20, ge=1, le=PAGE, description="How many.")
    offset: int = Field(default=0, ge=0, le=100_000, description="How many to skip.")


async def list_flows(call: Call, asked: ListFlows) -> FlowList:
    """List the user's stored flows, last changed first, each with its components and connections as text."""
    store = await call.caller.flows()
    entries, total = await store.page(asked.limit, asked.offset, asked.query)
    stored = [await store.get(entry.id) for entry in entries]
    graphs = await asyncio.to_thread(lambda: [clip(ascii_graph(one.flow), GRAPH) for one in stored])
    listed = [
        ListedFlow(**FlowRef.of(one.entry).model_dump(), graph=graph) for one, graph in zip(stored, graphs, strict=True)
    ]
    lines = [f"{one.id} {one.name!r} (version {one.version})\n{one.graph}" for one in listed]
    return FlowList(text="\n".join([f"{total} flow(s).", *lines]), flows=listed, total=total)


class OneFlow(Arguments):
    """Names a stored flow."""

    flow_id: str = Field(min_length=1, max_length=200, description="The stored flow, as list_flows gives it.")


class CreateFlow(Arguments):
    """Describes a new flow."""

    name: str = Field(min_length=1, max_length=200, description="The flow's name.")
    description: str = Field(default="", max_length=2_000, description="What it is for.")


async def create_flow(call: Call, asked: CreateFlow) -> FlowMade:
    """Store a new, empty flow, to which components are then added. To build a whole one, use create_flow_from_spec."""
    refuse_keys(asked.model_dump())
    flow = Flow.empty(asked.name, asked.description)
    store = await call.caller.flows()
    entry = await store.add(flow, Author(kind="assistant", session=SESSION, turn=call.id))
    await call.note_base(entry.id, None, entry.version)
    return FlowMade(text=f"Stored the empty flow {entry.name!r} as {entry.id}.", flow=FlowRef.of(entry))


class CreateFromSpec(Arguments):
    """A flow as spec text."""

    spec: str = Field(
        min_length=1,
        max_length=100_000,
        description="The flow:\nname: My Flow\nnodes:\n  A: ChatInput\n  B: ChatOutput\nedges:\n"
        "  A.message -> B.input_value\nconfig:\n  A.sender_name: Ada\nA value may be a `|` block. "
        "`template: NAME` begins with a starter flow.",
    )
    probes: dict[str, str] | None = Field(
        default=None, description='Inputs to try, each with words that the output should contain, or "".'
    )


async def create_flow_from_spec(call: Call, asked: CreateFromSpec) -> FlowMade:
    """Build a whole new flow from spec text and store it. It is checked, and run with a probe, before it is stored."""
    refuse_keys(asked.model_dump())
    async with desk_of(call) as desk:
        try:
            text = await desk.use("build_flow", {"spec": asked.spec, "probes": asked.probes})
        except ToolFailed as failed:
            raise ToolFailed(_renamed(failed.message), "not_built") from None
        finally:
            desk.count()
        bench = desk.bench
        if bench.proposal is None:
            fail(_renamed(text), "not_built")
        flow = await desk.add(bench.proposal)
        shown = text.replace("proposed it to the user", f"stored it as {flow.id}")
        return FlowMade(text=shown, flow=flow, caveat=bench.proposal_caveat, ids=bench.names)


def _renamed(text: str) -> str:
    """What the assistant's tool says, in terms of this one: no call knows of an earlier one's spec."""
    return text.replace(CORRECT, AGAIN).replace("build_flow", "create_flow_from_spec")


class CreateFromTemplate(Arguments):
    """Names a starter flow."""

    template_id: str = Field(min_length=1, max_length=200, description="Its name, as search_templates gives it.")


async def create_flow_from_template(call: Call, asked: CreateFromTemplate) -> FlowMade:
    """Store a new flow that begins as a starter flow. It is run first where it needs nothing but an input."""
    async with desk_of(call) as desk:
        try:
            text = await desk.use("use_template", {"name": asked.template_id})
        finally:
            desk.count()
        bench = desk.bench
        if bench.proposal is None:
            fail(text, "not_built")
        flow = await desk.add(bench.proposal)
        shown = text.replace("proposed it to the user", f"stored it as {flow.id}")
        return FlowMade(text=shown, flow=flow, caveat=bench.proposal_caveat, ids=bench.names)


class DuplicateFlow(OneFlow):
    """Names a flow to copy."""

    new_name: str | None = Field(default=None, min_length=1, max_length=200, description="The copy's name.")


async def duplicate_flow(call: Call, asked: DuplicateFlow) -> FlowMade:
    """Store a copy of a flow as a new one, which can then be changed without changing the user's."""
    stored = await (await call.caller.flows()).get(asked.flow_id)
    name = asked.new_name or f"{stored.entry.name} (copy)"
    copied = Flow.from_json({**stored.flow.raw, "name": name})
    async with desk_of(call) as desk:
        flow = await desk.add(copied)
    return FlowMade(text=f"Stored the copy {name!r} as {flow.id}.", flow=flow)


async def delete_flow(call: Call, asked: OneFlow) -> FlowDeleted:
    """Delete a stored flow with its versions and sessions. The user is asked, unless it was made in this session."""
    store = await call.caller.flows()
    stored = await store.get(asked.flow_id)
    entry = stored.entry
    if (await call.base_of(stored)).flow is not None and not call.mandate.is_open("remove"):
        title = f"Delete the flow {entry.name[:80]!r} with all its versions"
        call.require(RemovalApproval(title=title, targets=[entry.id], why=NOT_ASKED))
    await store.remove(entry.id)
    await call.caller.assistant.flow_sessions.remove_flow(call.caller.id, entry.id)
    await call.forget_base(entry.id)
    return FlowDeleted(text=f"Deleted the flow {entry.name!r}.", deleted=entry.id)


async def validate_flow(call: Call, asked: OneFlow) -> FlowAnswer:
    """List every fault of a flow, and how to mend it. Nothing is run."""
    async with desk_of(call, asked.flow_id) as desk:
        faults = await desk.use("check_flow", {})
        return FlowAnswer(text=shortened(faults, "Mend these first, and ask again."), flow=desk.entry)


class RunFlow(OneFlow):
    """Asks for a run."""

    input: str | None = Field(
        default=None,
        max_length=200_000,
        description="What to type into the chat; without it, the values as configured.",
    )


async def run_flow(call: Call, asked: RunFlow) -> Answer:
    """Run a stored flow for the user, and return what it gives. The user is asked before it sends anything out."""
    async with desk_of(call, asked.flow_id) as desk:
        entry = desk.entry
    # Not held while it runs: the flow is not changed.
    try:
        text = await desk.use("run_flow", {"input": asked.input})
    finally:
        desk.count()
    if not desk.bench.runs:
        fail(text, "not_run")
    return FlowRan(text=text, flow=entry, run=RunOutcome.of(desk.bench.runs[-1]))


def flow_tools() -> list[Tool]:
    """The tools."""
    return [
        own_tool(list_flows, ListFlows, FlowList, group=("canvas", "system")),
        own_tool(create_flow, CreateFlow, FlowMade, group="canvas", scope="build", touch="adds"),
        own_tool(
            create_flow_from_spec,
            CreateFromSpec,
            FlowMade,
            group="canvas",
            scope="build",
            touch="adds",
            runs=True,
            outbound=True,
        ),
        own_tool(
            create_flow_from_template,
            CreateFromTemplate,
            FlowMade,
            group="system",
            scope="build",
            touch="adds",
            runs=True,
        ),
        own_tool(duplicate_flow, DuplicateFlow, FlowMade, group="canvas", scope="build", touch="adds"),
        own_tool(delete_flow, OneFlow, FlowDeleted, group="canvas", scope="build", touch="changes"),
        own_tool(validate_flow, OneFlow, FlowAnswer, group="canvas"),
        own_tool(run_flow, RunFlow, FlowRan, group="canvas", scope="run", touch="changes", runs=True, outbound=True),
    ]
