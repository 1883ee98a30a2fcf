"""What `make evals` takes: little enough, estimated soundly, and as the manual shows it."""

import re

from scripts.checkout import ROOT, marked
from scripts.evals_time import CORES, KEPT, MANUAL, PLAYERS, Play, PlayTime, as_markdown

MEASURED = PlayTime.model_validate_json(KEPT.read_text(encoding="utf-8"))


def test_all_scenarios_with_all_inputs_take_less_than_three_minutes_of_two_cores() -> None:
    assert MEASURED.seconds / CORES < 180
    assert tuple(MEASURED.plays) == PLAYERS
    assert all(one.played >= MEASURED.scenarios // 10 for one in MEASURED.plays.values())


def test_the_players_that_are_measured_are_those_of_make_evals() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nevals:")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"--player (\w+)", recipe)) == PLAYERS


def test_the_manual_shows_what_was_measured() -> None:
    found = marked("evals-time").search(MANUAL.read_text(encoding="utf-8"))
    assert found is not None
    assert as_markdown(MEASURED) in found.group(0)


def test_a_part_is_estimated_without_counting_the_start_for_each_scenario() -> None:
    part = Play(played=10, seconds=25.0, starting=5.0)
    assert part.of_all(100) == 5.0 + 200.0
    assert part.of_all(10) == 25.0
    shown = as_markdown(PlayTime(scenarios=100, plays={"demo": part}))
    assert shown == (
        "Both plays of all 100 scenarios take 205 seconds of processor time (demo 205), estimated from plays of 10 of "
        "them: **1.7 minutes on 2 cores**.\n"
    )
    assert "estimated" not in as_markdown(PlayTime(scenarios=10, plays={"demo": part}))
