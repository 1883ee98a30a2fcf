"""Players beside each other: paired tests, the scenarios and inputs that tell them apart, distributions, dates."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.metrics import compare_metrics
from evals.attempt import AgentIdentity, Origin
from evals.behaviours.families import Input, Inputs
from evals.behaviours.outcomes import Behaviour, Outcome
from evals.report.formats.writer import render_report
from evals.report.model import Material, gather
from evals.report.play import Play, score_play
from evals.report.players import apart, duels, spreads
from evals.score import PASSED
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played


@pytest.fixture
def play(played: Played, catalogue: Catalogue) -> Play:
    """Three players."""
    return score_play(played.scenarios, played.attempts, catalogue)


def test_every_pair_is_tested_on_what_both_played_and_adjusted_over_all_pairs(play: Play) -> None:
    found = duels(play)
    assert [(one.first, one.second) for one in found] == [
        ("boaster", "null"),
        ("boaster", "oracle"),
        ("null", "oracle"),
    ]
    for one in found:
        first, second = ([entry.verdict for entry in play.of(name)] for name in (one.first, one.second))
        (alone,) = compare_metrics(first, second, (PASSED,))
        assert (one.tested.difference, one.tested.p) == (alone.difference, alone.p)
        assert one.tested.adjusted >= alone.p


def test_a_single_player_has_no_pairs(played: Played, catalogue: Catalogue) -> None:
    alone = score_play(played.scenarios, played.of("oracle"), catalogue)
    assert (duels(alone), apart(alone)) == ((), ())


def test_scenarios_that_tell_players_apart_come_by_how_much(play: Play) -> None:
    found = apart(play)
    assert found
    assert [one.spread for one in found] == sorted((one.spread for one in found), reverse=True)
    for one in found:
        known = [share for share in one.shares if share is not None]
        assert max(known) - min(known) == one.spread > 0
    even = {one.scenario for one in found} ^ set(play.scenarios)
    for scenario in even:
        passed = {entry.verdict.passed for entry in play.entries if entry.attempt.scenario == scenario}
        assert len(passed) == 1


def test_the_first_input_on_which_each_player_differs_is_named(play: Play) -> None:
    name = apart(play)[0].scenario
    typed = Input(text="urgent!", trait="given")
    wrong = Behaviour(input=typed, given=Outcome(outputs=("a",)), wanted=Outcome(outputs=("b",)))
    scenario = play.scenarios[name].model_copy(update={"inputs": Inputs(derive=True)})
    entries = tuple(
        replace(entry, attempt=entry.attempt.model_copy(update={"behaviours": [wrong]}))
        if (entry.attempt.scenario, entry.column) == (name, "boaster")
        else entry
        for entry in play.entries
    )
    found = apart(replace(play, scenarios={**play.scenarios, name: scenario}, entries=entries))
    assert next(one for one in found if one.scenario == name).inputs == (("boaster", "'urgent!' (given)"),)


@given(seconds=st.lists(st.floats(0, 1000), min_size=8, max_size=8))
def test_a_distribution_is_ordered_and_within_its_ends(
    seconds: list[float], played: Played, catalogue: Catalogue
) -> None:
    play = _CACHE.setdefault("play", score_play(played.scenarios, played.of("oracle"), catalogue))
    entries = tuple(
        replace(
            entry,
            attempt=entry.attempt.model_copy(
                update={"turns": [entry.attempt.turns[0].model_copy(update={"seconds": each})]}
            ),
        )
        for entry, each in zip(play.entries, seconds, strict=True)
    )
    (one,) = [each for each in spreads(replace(play, entries=entries)) if each.name == "agent seconds"]
    marks = [one.low, one.quarter, one.median, one.upper, one.tail, one.high]
    assert marks == sorted(marks)
    assert (one.low, one.high, one.count) == (min(seconds), max(seconds), 8)


_CACHE: dict[str, Play] = {}


def test_what_was_not_judged_stands_beside_the_big_number_with_dates_and_agents(
    material: Material, played: Played, catalogue: Catalogue
) -> None:
    stamps = {
        "agent": AgentIdentity(name="mine", version="1.2"),
        "origin": Origin(at="2026-03-04T05:06:07+00:00", harness="0.2.0", graders="abc"),
    }
    first, *rest = (one.model_copy(update=stamps) for one in played.of("oracle"))
    attempts = [first.model_copy(update={"harness_error": "no engine"}), *rest]
    shown = replace(material, play=score_play(played.scenarios, attempts, catalogue))
    page, text = render_report("html", shown), render_report("md", shown)
    assert '<strong class="excluded">1 of 8 not judged</strong>' in page
    assert "1 not judged" in text
    assert "played 2026-03-04" in page
    assert "agent mine 1.2" in page
    (standing,) = gather(shown, None).standings
    assert (standing.agents, standing.played) == (("mine 1.2",), ("2026-03-04",))


def test_the_page_and_the_markdown_compare_the_players(material: Material) -> None:
    page, text = render_report("html", material), render_report("md", material)
    for part in ("Player against player", "What tells them apart", "Latency and cost of an attempt"):
        assert part in page
    for part in ("## Player against player", "## What tells the players apart", "## Latency and cost"):
        assert part in text


def test_small_sums_of_money_are_not_shown_as_nothing(material: Material) -> None:
    entries = tuple(
        replace(
            entry,
            verdict=entry.verdict.model_copy(
                update={"measured": entry.verdict.measured.model_copy(update={"cost": 0.0013})}
            ),
        )
        for entry in material.play.entries
    )
    shown = replace(material, play=replace(material.play, entries=entries))
    page, text = render_report("html", shown), render_report("md", shown)
    assert "median 0.0013, 95% below 0.0013, most 0.0013" in page
    assert any("US dollars" in row and "0.0013" in row for row in text.splitlines())
