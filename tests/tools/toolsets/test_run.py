"""What a turn tells of a flow that runs for the user."""

import pytest

from agent.contract.events import ProgressEvent
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.run_events import NodeFinished, NodeStarted, NodeToken, RunEvent
from server.streams.sse import SseEncoder
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import call_tools
from tests.shared.stand_ins import StandInRunner, ran
from tools.events import Progress, RunProgress
from tools.toolsets.run import run_tools
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


async def test_each_node_that_starts_is_an_event_of_the_turn_before_the_tool_answers(catalogue: Catalogue) -> None:
    flow = flow_of(LOUDER, catalogue)
    node = flow.nodes[0]
    told: list[RunEvent] = [
        NodeStarted(node=node.id),
        NodeToken(node=node.id, text="Hi"),
        NodeStarted(node=node.id, iteration=2),
        NodeFinished(node="elsewhere"),
    ]
    bench = Workbench(
        user="local",
        session="s",
        catalogue=catalogue,
        runner=StandInRunner(results=[ran("Hi")], events=told),
        flow=flow,
    )
    _, events = await call_tools(bench, [run_tools], call("run_flow", 1, input="hi"))
    progress = [event for event in events if isinstance(event, RunProgress)]
    assert [(event.event, event.label) for event in progress] == [(told[0], node.display_name)]
    assert isinstance(events[0], Progress)
    assert bench.runs == [ran("Hi")]
    encoder = SseEncoder("s")
    [shown] = [line for event in progress for line in encoder.encode(event)]
    assert isinstance(shown, ProgressEvent)
    assert shown.step == "running_flow"
    assert node.display_name in shown.message
