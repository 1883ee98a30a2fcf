"""A durable turn that is under way when its server stops: the next one goes on with it, and nobody is told an end."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from server.turns import started
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE, Place, forked
from tests.shared.flow_texts import LOUDER, flow_of


@pytest.fixture
def place(catalogue: Catalogue, database_url: str, tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(database_url, tmp_path / "place", catalogue)


def done(work: Any) -> Any:
    """What some work in a process of its own gives."""
    code, said = forked(work)
    assert code == 0, said
    return json.loads(said)["value"]


def test_a_turn_under_way_is_left_to_the_next_server_when_its_server_is_stopped(place: Place) -> None:
    async def stopped() -> list[str]:
        async with place.served() as caller:
            held = asyncio.Event()

            async def hangs(*_: object) -> None:
                held.set()
                await asyncio.Event().wait()

            caller.assistant.runner.describe_component = hangs  # type: ignore[method-assign]  (a stand-in of one method)
            flow = await (await caller.flows()).add(flow_of(LOUDER, place.catalogue))
            await started(caller, {"session_id": "s", "turn_id": "t", "input_value": MESSAGE, "flow_id": flow.id})
            async with asyncio.timeout(60):
                await held.wait()
            caller.state.stopping.set()
        return [state for (state,) in query(place.database, "select state from turns where id = 't'")]

    async def next_one() -> dict[str, Any]:
        async with place.served() as caller, asyncio.timeout(90):
            followed = caller.state.turns.follow(LOCAL_USER, "t")
            told = [json.loads(line) async for lines in followed for _, line in lines]
            state = await caller.assistant.memory.load(LOCAL_USER, "s")
        return {"events": [event["event"] for event in told], "turns": state.turn_count}

    assert done(stopped) == ["running"]
    found = done(next_one)
    assert found["turns"] == 1
    assert found["events"][-1] == "complete"
    assert found["events"].count("complete") == 1
    assert "cancelled" not in found["events"]
    assert "rewound" in found["events"], "the step that was under way is told again"
