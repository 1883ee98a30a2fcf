"""Processes that stood still past their lease while another one ended their turn: what they still write is refused."""

import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.durable.playing import Place, Points, forked, told, turn_of

LONG_AGO = "2026-01-01T00:00:00.000+00:00"
SECONDS = 60
KEPT = (
    "select owner, turn, first, last, document from turn_events order by turn, first",
    "select owner, id, server, state, last, attempt, ended_at from turns order by id",
    "select owner, turn, step from turn_effects order by turn, step",
    "select id, version, document from flows",
    "select flow, version, turn, document from flow_revisions order by version",
    "select owner, session, document, waiting from conversations",
    "select owner, session, document from transcript_messages order by document",
    "select id, input, output, state from runs",
    "select * from usage order by owner, day, model",
)
"""All that a turn stores."""


@contextmanager
def standing_still(work: Any, before: str, gate: Path) -> Generator[None]:
    """A process that stands still before something for as long as the block lasts, and then runs to its end."""
    child = os.fork()
    if child == 0:
        Points.still_at, Points.gate = before, gate
        code, said = forked(work)
        (gate.parent / "said").write_text(said)
        os._exit(0 if code == 0 else 1)
    try:
        deadline = time.monotonic() + SECONDS
        while not gate.exists():
            assert os.waitpid(child, os.WNOHANG) == (0, 0), (gate.parent / "said").read_text()
            assert time.monotonic() < deadline, f"it never came to {before!r}"
            time.sleep(0.01)
        yield
    finally:
        gate.unlink(missing_ok=True)
    _, status = os.waitpid(child, 0)
    assert status == 0, (gate.parent / "said").read_text()


@pytest.mark.parametrize(
    ("before", "number"), [("events", 1), ("end", 1), ("save flow", 1), ("save", 1), ("usage", 1), ("run", 2)]
)
def test_nothing_is_stored_of_a_turn_by_a_process_that_lost_it(
    catalogue: Catalogue, tmp_path: Path, postgres: Cluster, before: str, number: int
) -> None:
    """Its user stopped the turn, and another process ended it, while the first one stood still before it stored.

    Where `SqlTurns.append` does not compare attempts, `events` and `end` fail: the events of both are stored. Where
    `note_once` does not, the others do: a revision, a conversation, usage, or a run is stored of a turn that has ended.
    """
    database_url = postgres.schema()
    place = Place(database_url, tmp_path / "place", catalogue)
    place.data.mkdir()
    if number == 2:
        code, said = forked(turn_of(place, 1))
        assert (code, json.loads(said)["value"]) == (0, "complete"), said
    with standing_still(turn_of(place, number), before, tmp_path / "still"):
        query(database_url, f"update turns set stop_asked = true where id = 't{number}'")  # noqa: S608  (a number)
        query(database_url, "update servers set seen_at = :then", then=LONG_AGO)

        async def end() -> Any:
            async with place.served() as caller:
                return (await told(caller, f"t{number}"))[-1]

        code, said = forked(end)
        assert code == 0, said
        last = json.loads(said)["value"]
        # At its first events a turn may not have been recorded as one that goes on: then it ends as interrupted.
        assert last["event"] == "cancelled"
        assert last["reason"] in ({"stopped", "interrupted"} if before == "events" else {"stopped"})
        kept = [query(database_url, each) for each in KEPT]
    for statement, rows in zip(KEPT, kept, strict=True):
        assert query(database_url, statement) == rows, statement
