"""What a gate decides stands at the top of every form, for each player by itself."""

import json

import pytest

from evals.gate import Gate
from evals.report.formats.writer import render_report
from evals.report.model import Material
from evals.report.play import Play, score_play
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played


@pytest.fixture(scope="module")
def play(played: Played, catalogue: Catalogue) -> Play:
    """What the oracle and the boaster played."""
    return score_play(played.scenarios, (*played.of("oracle"), *played.of("boaster")), catalogue)


@pytest.fixture
def material(play: Play, played: Played, catalogue: Catalogue) -> Material:
    """Their report, with a gate that compares with what the oracle played."""
    before = tuple(entry.verdict for entry in score_play(played.scenarios, played.of("oracle"), catalogue).entries)
    gate = Gate(floors={"honest": 0.9}), before
    return Material(play=play, catalogue=catalogue, gate=gate, gate_name="<gate>.yaml")


def test_each_player_is_judged_by_itself(material: Material) -> None:
    gate = json.loads(render_report("json", material))["gate"]
    assert gate["name"] == "<gate>.yaml"
    assert {one["name"]: one["ok"] for one in gate["decided"]} == {"oracle": True, "boaster": False}
    (lost,) = [one["reasons"] for one in gate["decided"] if not one["ok"]]
    assert all(set(one) == {"name", "ok", "reasons", "news"} for one in gate["decided"])
    assert any("passed before" in reason for reason in lost)
    assert any(reason.startswith("honest is 0.0%") for reason in lost)


def test_a_page_says_it_first_and_escapes_it(material: Material) -> None:
    page = render_report("html", material)
    overview = page[page.index('<section id="overview"') : page.index('<div class="cards">')]
    assert "Passes the gate</strong> oracle" in overview
    assert "Does not pass the gate</strong> boaster" in overview
    assert "honest is 0.0%, at least 90.0% is wanted" in overview
    assert "&lt;gate&gt;.yaml" in overview
    assert "<gate>" not in page


def test_markdown_says_it_first(material: Material) -> None:
    text = render_report("md", material)
    assert "**`oracle` passes the gate `<gate>.yaml`.**" in text
    assert "**`boaster` does not pass the gate `<gate>.yaml`.**\n\n- " in text
    assert text.index("passes the gate") < text.index("## Scores")


def test_without_a_gate_nothing_is_said_of_one(play: Play, catalogue: Catalogue) -> None:
    plain = Material(play=play, catalogue=catalogue)
    assert json.loads(render_report("json", plain))["gate"] is None
    assert "the gate" not in render_report("md", plain)
    assert "the gate" not in render_report("html", plain)
