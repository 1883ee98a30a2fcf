"""What goes into a flow and out of it is read from its wiring, however large it is and whatever things are called."""

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.edits import rename
from tests.server.live import events, serving
from tests.shared.flow_texts import flow_of, long_flow, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant


@pytest.mark.anyio
@pytest.mark.parity("scenario-describe-io-large")
async def test_the_ends_of_a_large_flow_are_reported_whatever_its_parts_are_called(catalogue: Catalogue) -> None:
    canvas = flow_of(long_flow(60), catalogue)
    begin, end, step = (node_id(canvas, kind) for kind in ("ChatInput", "ChatOutput", "CombineText"))
    for component, name in ((begin, "Output"), (end, "Input"), (step, "Chat Input")):
        canvas = rename(canvas, component, name).flow
    model = ScriptedModel("question", [call("describe_flow_io", 1)], [call("describe_flow_io", 2)], "So it is.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="What goes in and out?", flow=canvas.to_json())
    first, second = model.tool_answers(3)
    assert first == second
    taken, given = first.splitlines()[:2]
    assert begin in taken
    assert end in given
    assert "CombineText" not in taken + given
