"""The official JavaScript client against the server: over HTTP in a session, and over standard input and output."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import NodeStarted
from server.mcp.perform import TOOLS
from tests.conformance.clients import Clients
from tests.server.live import FLOWS, serving
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
SCRIPT = Path(__file__).parent / "talk.mjs"


class HangsWhenAsked(StandInRunner):
    """A runner whose run of the input `hang` never ends on its own."""

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """The next result."""
        self.hangs = text == "hang"
        self.events = [NodeStarted(node=flow.components[0].id, iteration=1)]
        return await super().execute(flow, text, options)


def checked(found: dict[str, Any]) -> None:
    """What both ways have in common is as it should be."""
    assert found["server"]["name"] == "wirewright"
    assert set(found["tools"]) == TOOLS.keys()
    assert found["made"]["flow"]["version"] == 1
    assert "Building the flow..." in found["progress"]
    assert found["run"]["ok"] is True
    assert found["wrong"]["isError"] is True
    assert "type: Input should be a valid string" in found["wrong"]["text"]
    assert found["unknown"] == -32602
    assert found["batch"] == [True, True]
    assert found["told"] == [True, True]
    assert "ChatInput" in found["resource"]
    assert found["templates"] > 0
    assert found["prompt"] is True
    assert found["closed"] is True


async def test_over_http_it_builds_runs_asks_follows_and_cancels(clients: Clients, catalogue: Catalogue) -> None:
    runner = HangsWhenAsked(results=[ran("hi")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        flow = flow_of(LOUDER, catalogue)
        prompt = next(node.id for node in flow.components if node.type == "Prompt Template")
        stored = (await live.client.post(FLOWS, json=flow.to_json())).json()["id"]
        token = live.client.headers["Authorization"].removeprefix("Bearer ")
        address = f"{str(live.client.base_url).rstrip('/')}/mcp"
        said = await clients.run(SCRIPT, "http", address, token, stored, prompt)
        await asyncio.wait_for(runner.cancelled.wait(), 30)
    found = {name: value for line in said for name, value in line.items()}
    checked(found)
    assert "the user said no" in found["denied"]["text"]
    assert found["agreed"] == {"isError": False, "version": 2}
    assert [f"Remove {prompt}" in question for question in found["asked"]] == [True, True]
    assert found["stopped"] == "stopped"


@pytest.mark.engine
async def test_over_standard_input_and_output_it_builds_and_runs(
    clients: Clients, warm_engine: None, wirewright_command: Path, tmp_path: Path
) -> None:
    assert shutil.which(str(wirewright_command))
    said = await clients.run(SCRIPT, "stdio", str(wirewright_command), WIREWRIGHT_DATA=str(tmp_path))
    found = {name: value for line in said for name, value in line.items()}
    checked(found)
    assert found["run"]["output"] == "hi"
