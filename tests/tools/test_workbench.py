"""What the workbench emits when the canvas changes."""

import pytest
from pydantic_ai import CustomEvent

from flows.actions import apply
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import Edit, add_component, configure
from tests.shared.stand_ins import StandInRunner
from tools.events import FlowUpdate
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


async def test_each_change_carries_its_node_as_it_is_after_that_change(catalogue: Catalogue) -> None:
    added = add_component(Flow.empty(), catalogue, "ChatInput")
    node = added.flow.nodes[0].id
    first = configure(added.flow, catalogue, node, {"sender_name": "Ada"})
    second = configure(first.flow, catalogue, node, {"sender_name": "Eve"})
    bench = Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())
    updates: list[FlowUpdate] = []

    async def emit(event: CustomEvent) -> None:
        assert isinstance(event, FlowUpdate)
        updates.append(event)

    actions = (*added.actions, *first.actions, *second.actions)
    await bench.commit(emit, Edit(flow=second.flow, actions=actions))
    flow = Flow.empty()
    for update, action in zip(updates, actions, strict=True):
        flow = apply(flow, action)
        after = flow.node(node)
        assert after is not None
        assert update.action == action
        assert update.node == (None if action.kind == "add_component" else after.raw)
    assert [update.node is None for update in updates] == [True, False, False]
    assert bench.flow == flow == second.flow
