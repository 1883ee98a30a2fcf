"""Several players beside one baseline: the namesake, the only one, the one that is named, or none, which is told."""

import json

import pytest

from evals.report.baseline import partners
from evals.report.formats.writer import render_report
from evals.report.model import Material
from evals.report.play import score_play
from evals.score import Verdict
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played


@pytest.fixture(scope="module")
def baseline(played: Played, catalogue: Catalogue) -> list[Verdict]:
    """What the oracle and the one that does nothing played before."""
    attempts = (*played.of("oracle"), *played.of("null"))
    return [entry.verdict for entry in score_play(played.scenarios, attempts, catalogue).entries]


def material_of(played: Played, catalogue: Catalogue, baseline: list[Verdict], player: str = "") -> Material:
    """The oracle and the boaster beside a baseline."""
    attempts = (*played.of("oracle"), *played.of("boaster"))
    play = score_play(played.scenarios, attempts, catalogue)
    return Material(play=play, catalogue=catalogue, baseline=baseline, baseline_name="b.jsonl", baseline_player=player)


def test_each_player_is_shown_beside_the_one_of_the_same_name_and_one_without_is_reported(
    played: Played, catalogue: Catalogue, baseline: list[Verdict]
) -> None:
    material = material_of(played, catalogue, baseline)
    assert partners(material.play, baseline) == {"boaster": None, "oracle": "oracle"}
    found = json.loads(render_report("json", material))
    assert [(one["name"], one["baseline"]) for one in found["against"]] == [("oracle", "oracle")]
    assert found["alone"] == ["boaster"]
    assert "Not compared, because the baseline has several players and none with this name: `boaster`" in render_report(
        "md", material
    )
    assert "Not compared: boaster." in render_report("html", material)


def test_all_players_stand_beside_the_one_that_is_named(
    played: Played, catalogue: Catalogue, baseline: list[Verdict]
) -> None:
    material = material_of(played, catalogue, baseline, "null")
    found = json.loads(render_report("json", material))
    pairs = [(one["name"], one["baseline"]) for one in found["against"]]
    assert pairs == [("boaster", "null"), ("oracle", "null")]
    assert found["alone"] == []
    assert "Not compared" not in render_report("html", material)


def test_all_players_stand_beside_the_only_one(played: Played, catalogue: Catalogue, baseline: list[Verdict]) -> None:
    only = [verdict for verdict in baseline if verdict.player == "null"]
    material = material_of(played, catalogue, only)
    assert partners(material.play, only) == {"boaster": "null", "oracle": "null"}


def test_without_a_baseline_nobody_is_said_to_stand_alone(played: Played, catalogue: Catalogue) -> None:
    material = material_of(played, catalogue, [])
    assert json.loads(render_report("json", material))["alone"] == []
    assert "Not compared" not in render_report("html", material)


def test_a_page_whose_players_all_stand_alone_still_says_so(
    played: Played, catalogue: Catalogue, baseline: list[Verdict]
) -> None:
    play = score_play(played.scenarios, played.of("boaster"), catalogue)
    material = Material(play=play, catalogue=catalogue, baseline=baseline, baseline_name="b.jsonl")
    html = render_report("html", material)
    assert 'href="#baseline"' in html
    assert "Not compared: boaster." in html
