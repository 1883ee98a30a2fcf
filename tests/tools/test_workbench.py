"""What the workbench emits when the canvas changes."""

import pytest
from pydantic_ai import CustomEvent

from flows.actions import apply
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import Edit, add_component, configure
from tests.stand_ins import StandInRunner
from tools.events import FlowUpdate
from tools.workbench import Emits, Event, Workbench

pytestmark = pytest.mark.anyio


class Recorder(Emits):
    """Keeps the changes that were emitted."""

    def __init__(self) -> None:
        self.updates: list[FlowUpdate] = []

    async def emit(self, event: Event, /) -> Event:
        """Keep one change."""
        held: CustomEvent = event
        assert isinstance(held, FlowUpdate)
        self.updates.append(held)
        return event


async def test_each_change_carries_its_node_as_it_is_after_that_change(catalogue: Catalogue) -> None:
    added = add_component(Flow.empty(), catalogue, "ChatInput")
    node = added.flow.nodes[0].id
    first = configure(added.flow, catalogue, node, {"sender_name": "Ada"})
    second = configure(first.flow, catalogue, node, {"sender_name": "Eve"})
    bench = Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())
    emitted = Recorder()
    actions = (*added.actions, *first.actions, *second.actions)
    await bench.commit(emitted, Edit(flow=second.flow, actions=actions))
    flow = Flow.empty()
    for update, action in zip(emitted.updates, actions, strict=True):
        flow = apply(flow, action)
        after = flow.node(node)
        assert after is not None
        assert update.action == action
        assert update.node == (None if action.kind == "add_component" else after.raw)
    assert [update.node is None for update in emitted.updates] == [True, False, False]
    assert bench.flow == flow == second.flow
