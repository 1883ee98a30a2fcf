"""A front end that is written from the manual alone: it builds, approves, uploads, runs, follows and undoes."""

import asyncio
import os
import sys

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.runner import Runner
from tests.server.live import serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.test_docs import blocks

pytestmark = pytest.mark.anyio


async def shown(catalogue: Catalogue, runner: Runner | StandInRunner) -> str:
    """What the front end of the manual prints, with a model that plans a flow and builds it once that is approved."""
    [code] = blocks("http-api.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 60
    model = ScriptedModel(
        "build_flow", [call("propose_plan", 1, markdown="1. Echo")], [call("build_flow", 2, spec=ECHO)], "I built it."
    )
    who = assistant(catalogue, model)
    who.runner = runner
    async with serving(who) as live:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code,
            env={
                **os.environ,
                "WIREWRIGHT_SERVER": str(live.client.base_url),
                "WIREWRIGHT_TOKEN": live.client.headers["Authorization"].removeprefix("Bearer "),
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        output, problems = await asyncio.wait_for(process.communicate(), 180)
    assert process.returncode == 0, problems.decode() + output.decode()
    return output.decode()


async def test_the_front_end_of_the_manual_works(catalogue: Catalogue) -> None:
    lines = (await shown(catalogue, StandInRunner(results=[ran("hello")] * 4))).splitlines()
    assert lines[0].startswith("approved: ")
    assert lines[-5:] == [
        "built: It is on the canvas now. version 2",
        "again: complete",
        "uploaded: hours.txt 25",
        "ran: hello",
        "undone: version 4 with 2 components",
    ]


@pytest.mark.engine
async def test_the_front_end_of_the_manual_runs_flows_on_the_engine(catalogue: Catalogue, engine: Runner) -> None:
    assert "ran: hello\n" in await shown(catalogue, engine)
