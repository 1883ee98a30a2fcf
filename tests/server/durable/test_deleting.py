"""What is recorded of durable turns goes with their user, and when a backup replaces everything; others' stays."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from runtime.archive.backup import back_up
from runtime.archive.restore import restore
from runtime.archive.user_data import delete_user
from runtime.durable.records import durable_file, durable_schema
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from runtime.files.undo import undo_folder, undoable
from server.turns import started
from tests.databases.secrets import opened
from tests.databases.stored import query
from tests.server.durable.playing import MESSAGE, Place, forked
from tests.shared.flow_texts import LOUDER, flow_of

SECRET = "what-ada-wrote-9c1e"
TABLES = ("workflow_status", "workflow_input")


@pytest.fixture
def place(catalogue: Catalogue, database_url: str, tmp_path: Path) -> Place:
    """A server that was killed in the middle of a turn, whose step had changed a file."""
    (tmp_path / "place").mkdir()
    made = Place(database_url, tmp_path / "place", catalogue)

    async def work() -> None:
        async with made.served() as caller:
            flow = await (await caller.flows()).add(flow_of(LOUDER, catalogue))
            await started(caller, {"session_id": "s", "turn_id": "t", "input_value": MESSAGE, "flow_id": flow.id})
            async for _ in caller.state.turns.follow(LOCAL_USER, "t"):
                pass

    code, said = forked(work, fatal=70)
    assert code == -signal.SIGKILL, said
    for user in (LOCAL_USER, "ada"):
        UserFiles(made.data, user).write("notes.md", SECRET)
        with undoable(undo_folder(made.data, user) / "turn" / "1"):
            UserFiles(made.data, user).write("notes.md", "another text")
    return made


def recorded(url: str) -> list[tuple[Any, ...]]:
    """The workflows that have rows, in any of DBOS's tables."""
    file = durable_file(url)
    if file is not None and not file.exists():
        return []
    prefix = "" if file else f"{durable_schema(url)}."
    there = url if file is None else f"sqlite:///{file}"
    return [row for table in TABLES for row in query(there, f"select workflow_uuid from {prefix}{table}")]  # noqa: S608  (names)


def steps(url: str) -> int:
    """How many rows there are of recorded steps."""
    return query(url, "select count(*) from turn_steps")[0][0]


def held(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def test_deletion_of_a_user_removes_what_is_recorded_of_the_turns(place: Place) -> None:
    found = recorded(place.database)
    assert {workflow for (workflow,) in found} == {f"turn:{LOCAL_USER}:t"}
    assert len(found) == len(TABLES)
    assert steps(place.database) > 0

    async def delete(user: str) -> None:
        async with opened(place.database, place.data) as database:
            await delete_user(database, place.data, user)

    asyncio.run(delete("loc"))
    assert recorded(place.database) == found, "another user's"
    assert steps(place.database) > 0, "another user's"
    asyncio.run(delete(LOCAL_USER))
    assert recorded(place.database) == []
    assert steps(place.database) == 0
    file = durable_file(place.database)
    if file is not None:
        assert b"turn:local" not in b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert not undo_folder(place.data, LOCAL_USER).exists(), "not as the file was before"
    assert held(undo_folder(place.data, "ada")) != [], "another user's"


def test_a_restored_backup_has_no_turns_of_what_it_replaced(place: Place, tmp_path: Path) -> None:
    async def work() -> None:
        await back_up(place.database, place.data, tmp_path / "b.zip")
        await restore(tmp_path / "b.zip", place.database, place.data, overwrite=True)

    asyncio.run(work())
    assert recorded(place.database) == []
    assert held(place.data / "undo") == []


def test_a_turn_that_ends_early_leaves_no_copies_of_files(place: Place) -> None:
    from server.durable.turns import turn_folder

    query(place.database, "update turns set stop_asked = true")
    folder = turn_folder(place.data, LOCAL_USER, "t")
    with undoable(folder / "9"):
        UserFiles(place.data, LOCAL_USER).write("notes.md", "a third text")
    assert held(folder) != []

    async def work() -> str:
        async with place.served() as caller, asyncio.timeout(60):
            lines = [line async for some in caller.state.turns.follow(LOCAL_USER, "t") for _, line in some]
        return lines[-1].decode()

    code, said = forked(work)
    assert code == 0, said
    assert "cancelled" in said
    assert not folder.exists()
