"""Turns that another process goes on with: fenced, given up, ended after an upgrade, stopped, and followed."""

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.json_values import as_list, as_object
from runtime.durable.records import durable_file, workflow_id
from runtime.files.folders import LOCAL_USER
from runtime.keychain.documents import DocumentSealing
from server.durable.packing import unpacked
from server.turns import started
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE, Place, forked, turn_of
from tests.shared.flow_texts import LOUDER, flow_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(catalogue: Catalogue, tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(f"sqlite+aiosqlite:///{tmp_path / 'house.db'}", tmp_path / "place", catalogue)


def done(work: Any) -> Any:
    """What some work in a process of its own gives."""
    code, said = forked(work)
    assert code == 0, said
    return json.loads(said)["value"]


async def begun(place: Place, caller: Any) -> None:
    """Begin the first turn."""
    flow = await (await caller.flows()).add(flow_of(LOUDER, place.catalogue))
    await started(caller, {"session_id": "s", "turn_id": "t", "input_value": MESSAGE, "flow_id": flow.id})


async def lines_of(caller: Any) -> list[Any]:
    return [json.loads(line) async for some in caller.state.turns.follow(LOCAL_USER, "t") for _, line in some]


def killed(place: Place, point: int) -> None:
    """Begin the first turn in a process that is killed at a point."""

    async def work() -> None:
        async with place.served() as caller:
            await begun(place, caller)
            await lines_of(caller)

    code, said = forked(work, fatal=point)
    assert code == -signal.SIGKILL, said


async def ended(place: Place) -> dict[str, Any]:
    """What the turn has told, and what is stored, once it has ended."""
    async with place.served() as caller:
        async with asyncio.timeout(60):
            told = await lines_of(caller)
        (entry, *_), _ = await (await caller.flows()).page(1, 0)
        state = await caller.assistant.memory.load(LOCAL_USER, "s")
        return {"last": told[-1], "events": told, "version": entry.version, "turns": state.turn_count}


def test_a_process_that_was_replaced_writes_nothing_more(place: Place) -> None:
    async def work() -> Any:
        async with place.served() as caller:
            hold, held = asyncio.Event(), asyncio.Event()
            execute = caller.assistant.runner.describe_component

            async def frozen(*given: Any) -> Any:
                held.set()
                await hold.wait()
                return await execute(*given)

            caller.assistant.runner.describe_component = frozen
            await begun(place, caller)
            running = caller.state.turns.get(LOCAL_USER, "t")
            await held.wait()
            await asyncio.sleep(0.6)
            store = await caller.state.turns.store()
            taken = await store.take_over(LOCAL_USER, "t", 4)
            before = query(place.database, "select count(*), max(last) from turn_events")
            hold.set()
            await asyncio.wait([running.task], timeout=30)
            after = query(place.database, "select count(*), max(last) from turn_events")
            state = await caller.assistant.memory.load(LOCAL_USER, "s")
            (entry, *_), _ = await (await caller.flows()).page(1, 0)
            return [taken.attempt, before == after, running.log.is_left, state.turn_count, entry.version]

    assert done(work) == [2, True, True, 0, 1]


def test_a_step_at_which_the_process_dies_three_times_ends_the_turn(place: Place) -> None:
    killed(place, 40)
    query(place.database, "update turns set tries = 3, step = (select 0)")

    async def work() -> Any:
        from server.durable import turns

        turns.TRIES = 0
        return await ended(place)

    found = done(work)
    assert (found["last"]["event"], found["last"]["code"]) == ("error", "turn_given_up")
    assert (found["events"][-2]["event"], found["turns"]) == ("rewound", 1)


def test_a_turn_of_an_earlier_form_ends_with_its_last_canvas(place: Place) -> None:
    killed(place, 45)

    async def work() -> Any:
        from runtime.durable import engine
        from server.durable import workflow

        engine.PROTOCOL = workflow.PROTOCOL = "next"
        return await ended(place)

    found = done(work)
    assert (found["last"]["event"], found["last"]["reason"]) == ("cancelled", "interrupted")
    assert "upgraded" in found["last"]["message"]
    assert found["last"]["saved"] is True
    assert found["version"] == 2, "the change that was recorded is kept"


def test_a_turn_that_an_earlier_version_has_begun_ends_with_its_last_canvas(place: Place) -> None:
    killed(place, 60)
    as_before(place)
    found = done(lambda: ended(place))
    assert (found["last"]["event"], found["last"]["reason"]) == ("cancelled", "interrupted")
    assert "upgraded" in found["last"]["message"]
    assert (found["last"]["saved"], found["version"]) == (True, 2), "the change that was recorded is kept"


def as_before(place: Place) -> None:
    """Let the steps of a turn be recorded as in protocol 1: by DBOS, each in a text of base85."""
    documents, file = DocumentSealing(place.data), f"sqlite:///{durable_file(place.database)}"
    rows = query(place.database, "select document from turn_steps order by first")
    query(place.database, "delete from turn_steps")
    steps = [as_object(step) for (row,) in rows for step in as_list(unpacked(row, documents))]
    assert steps
    for number, step in enumerate(steps, 1):
        text = json.dumps({"value": step["value"], "told": step["told"]}).encode()
        query(
            file,
            "insert into operation_outputs (workflow_uuid, function_id, function_name, output, serialization, "
            "retention_timestamp) values (:workflow, :number, :name, :output, 'wirewright_json', 0)",
            workflow=workflow_id(LOCAL_USER, "t"),
            number=number,
            name=step["step"],
            output=json.dumps(documents.seal_text(base64.b85encode(zlib.compress(text)).decode())),
        )
    query(file, "update workflow_status set application_version = '1'")


def test_a_turn_that_was_to_be_stopped_is_not_gone_on_with(place: Place) -> None:
    killed(place, 70)
    query(place.database, "update turns set stop_asked = true")
    found = done(lambda: ended(place))
    assert (found["last"]["event"], found["last"]["reason"]) == ("cancelled", "stopped")


PLAIN = """
import asyncio, sys
from flows.catalogue import Catalogue
from tests.server.live import events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

async def main():
    async with serving(assistant(Catalogue.load(), ScriptedModel("question", "It holds a text."))) as live:
        told = await events(live.client, input_value="What is a prompt?", session_id="s")
    print(told[-1]["event"], [name for name in sys.modules if name.split(".")[0] == "dbos"])

asyncio.run(main())
"""
"""A server on SQLite that takes a turn, and what is imported of DBOS in the end."""


def test_a_plain_server_takes_turns_without_importing_dbos(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PLAIN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "WIREWRIGHT_DATA": str(tmp_path / "data")},
    )
    assert ran.stdout.splitlines()[-1:] == ["complete []"], ran.stderr[-2_000:]


def test_a_question_that_an_earlier_form_asked_is_answered_after_an_upgrade(place: Place) -> None:
    async def upgraded() -> Any:
        from runtime.durable import engine
        from server.durable import workflow

        engine.PROTOCOL = workflow.PROTOCOL = "next"
        return await turn_of(place, 2)()

    assert done(turn_of(place, 1)) == "complete"
    assert done(upgraded) == "complete"
    assert query(place.database, "select count(*) from runs") == [(1,)], "what was approved was done"


def test_what_is_recorded_is_encrypted(place: Place, tmp_path: Path) -> None:
    killed(place, 70)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("house-durable.db*"))
    assert b"turn:local:t" in kept
    assert b"whisper" not in kept
    assert b"ChatInput" not in kept


def test_what_is_recorded_of_old_turns_is_removed(place: Place) -> None:
    file = f"sqlite:///{durable_file(place.database)}"
    recorded = "select count(*) from workflow_status"

    async def work() -> Any:
        async with place.served() as caller, asyncio.timeout(60):
            await begun(place, caller)
            last = (await lines_of(caller))[-1]["event"]
            while query(file, f"{recorded} where status <> 'SUCCESS'") != [(0,)]:  # noqa: ASYNC110  (nothing tells)
                await asyncio.sleep(0.02)
            return last

    assert done(work) == "complete"
    assert query(file, recorded) > [(0,)]
    assert query(place.database, "select count(*) from turn_steps") == [(0,)], "nobody goes on with it"

    async def again() -> Any:
        async with place.served() as caller, asyncio.timeout(60):
            while query(file, recorded) != [(0,)]:  # noqa: ASYNC110  (nothing tells)
                await asyncio.sleep(0.02)
            return (await lines_of(caller))[-1]["event"]

    day = 86_400_000
    query(file, f"update workflow_status set created_at = created_at - {2 * day}")  # noqa: S608  (a number)
    assert done(again) == "complete", "its events are kept for as long as events are"


def test_what_is_recorded_of_turns_that_go_on_is_kept_however_old_they_are(place: Place) -> None:
    killed(place, 70)
    file = f"sqlite:///{durable_file(place.database)}"
    query(file, "update workflow_status set created_at = 0")
    assert done(lambda: ended(place))["last"]["event"] == "complete"


def test_a_look_for_lost_turns_that_fails_is_made_again(place: Place) -> None:
    async def left() -> None:
        async with place.served() as caller:  # reserved and not begun, as by a process that is killed in between
            assert await (await caller.state.turns.store()).reserve(LOCAL_USER, "t", "s", durable=True)

    async def work() -> Any:
        from server.durable.turns import DurableTurns

        look, failures = DurableTurns.look, ["once"]

        async def failing(self: DurableTurns, *, mine: bool = False) -> None:
            if failures:
                raise RuntimeError(failures.pop())
            await look(self, mine=mine)

        DurableTurns.look = failing
        async with place.served() as caller, asyncio.timeout(60):
            return await lines_of(caller)

    done(left)
    [last] = done(work)
    assert (last["event"], "Send the message again" in last["message"]) == ("cancelled", True)
