"""Turns that are killed anywhere come to the same end as undisturbed ones."""

import json
import random
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from server.durable.turns import TRIES
from tests.server.durable.playing import Place, forked

KILLS = TRIES - 1
"""How often each conversation is killed: even if it is at the same step each time, the turn goes on."""
CONVERSATIONS = 10
"""How many conversations are killed on each database: 40 points in all."""
FURTHEST = 90
"""How many points a process passes at most before it is killed: the two turns have about twice as many."""


def outcome(place: Place, *fatal: int, steps: Sequence[str] = ()) -> dict[str, Any]:
    """What came of a conversation whose processes are killed at some points, and after the effects of some steps."""
    place.data.mkdir()
    for point in fatal:
        code, said = forked(place.play, fatal=point)
        assert code in {0, -signal.SIGKILL}, said
    for step in steps:
        code, said = forked(place.play, fatal_step=step)
        assert code == -signal.SIGKILL, said
    code, said = forked(place.play)
    assert code == 0, said
    return json.loads(said)["value"]


def requests(place: Place) -> Counter[str]:
    """How often a model was asked for each answer."""
    return Counter((place.data / "requests").read_text().split())


@pytest.mark.table
@pytest.mark.parametrize("seed", range(CONVERSATIONS))
def test_turns_that_are_killed_at_random_points_end_as_undisturbed_ones(
    catalogue: Catalogue, tmp_path: Path, database_url: str, seed: int, undisturbed: dict[str, Any]
) -> None:
    points = random.Random(  # noqa: S311  (the same points each time)
        f"{seed} {database_url.split(':')[0]}"
    )
    place = Place(database_url, tmp_path / "place", catalogue)
    found = outcome(place, *(points.randint(3, FURTHEST) for _ in range(KILLS)))
    check_alike(found, undisturbed)
    asked = requests(place)
    most = len(asked) + 2 * KILLS
    assert sum(asked.values()) <= most, "only what was under way is asked for again, and what had just ended before it"


def test_what_a_step_has_stored_is_not_stored_again_when_its_process_is_killed_before_that_is_recorded(
    catalogue: Catalogue, tmp_path: Path, database_url: str, undisturbed: dict[str, Any]
) -> None:
    found = outcome(Place(database_url, tmp_path / "place", catalogue), steps=("save flow", "save", "usage", "run"))
    check_alike(found, undisturbed)


def check_alike(found: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """Nothing tells a conversation from one that nothing has disturbed."""
    for turn, expected in zip(found.pop("events"), undisturbed["events"], strict=True):
        assert [event["event"] for event in turn] == [event["event"] for event in expected]
        for event, one in zip(turn, expected, strict=True):
            assert event == one
    assert found == {name: value for name, value in undisturbed.items() if name != "events"}


@pytest.fixture(scope="module")
def undisturbed(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What comes of the conversation when nothing is killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    place = Place(f"sqlite+aiosqlite:///{folder / 'house.db'}", folder / "place", catalogue)
    found = outcome(place)
    assert [turn[-1]["event"] for turn in found["events"]] == ["complete", "complete"]
    assert (found["files"], found["components"]) == ({"notes.md": "Second line\n"}, ["SumComponent.py"])
    assert len(found["versions"]) == 3
    return found
