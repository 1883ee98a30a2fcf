"""The other forms: JSON, CSV, JUnit XML and Markdown, whole and harmless."""

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from evals.report.formats.markdown import code
from evals.report.formats.writer import FORMS, Form, render_report
from evals.report.model import Material
from evals.report.play import score_play
from evals.score import EVALUATORS
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played

NASTY = "=1+1|`x`\n@everyone <b>\x00\x1b[31m</failure>]]>\ud800"


@pytest.fixture(scope="session")
def nasty(played: Played, catalogue: Catalogue) -> Material:
    """A play whose player and failure have a name that every form must get over."""
    attempts = [one.model_copy(update={"player": NASTY, "harness_error": NASTY}) for one in played.of("null")[:2]]
    attempts += [one.model_copy(update={"player": NASTY}) for one in played.of("null")[2:4]]
    return Material(play=score_play(played.scenarios, attempts, catalogue), catalogue=catalogue, title=NASTY)


@pytest.mark.parametrize("form", sorted(set(FORMS.values())))
def test_a_form_is_the_same_for_the_same_play_and_is_text(form: Form, nasty: Material) -> None:
    text = render_report(form, nasty)
    assert text == render_report(form, nasty)
    assert text.encode()
    assert not {"\x00", "\x1b"} & set(text)


def test_json_has_players_attempts_and_the_baseline(material: Material) -> None:
    found = json.loads(render_report("json", material))
    assert found["format"] == 1
    assert [(one["name"], one["passed"], one["scored"]) for one in found["players"]] == [
        ("boaster", 0, 8),
        ("oracle", 6, 8),
    ]
    oracle = found["players"][1]
    assert oracle["scores"]["passed"]["mean"] == 0.75
    assert oracle["pass_hat_k"] == {"1": 0.75, "2": 0.75}
    assert oracle["flaky"] == []
    assert set(oracle["splits"]) == {"dev", "test"}
    assert [one["name"] for one in found["against"]] == ["boaster", "oracle"]
    assert len(found["attempts"]) == 16
    assert found["attempts"][0]["scores"].keys() == EVALUATORS.keys()


def test_the_page_and_the_json_say_that_runs_with_their_own_code_are_by_their_own_account(
    played: Played, catalogue: Catalogue
) -> None:
    plain = played.of("oracle")[0]
    assert plain.probes
    own = plain.model_copy(update={"probes": [replace(run, untrusted_code=True) for run in plain.probes]})
    for attempt, told in ((own, True), (plain, False)):
        shown = Material(play=score_play(played.scenarios, [attempt], catalogue), catalogue=catalogue, title="t")
        assert ("by its own account" in render_report("html", shown)) is told
        [one] = json.loads(render_report("json", shown))["attempts"]
        assert one.get("untrusted_code", False) is told


def test_the_baseline_says_what_newly_passes_and_how_sure_that_is(material: Material) -> None:
    boaster, oracle = json.loads(render_report("json", material))["against"]
    assert [one["scenario"] for one in oracle["better"]] == ["report-grow", "report-insert", "report-question"]
    assert oracle["worse"] == []
    assert boaster["better"] == []
    tested = {one["measure"]: one for one in oracle["tested"]}
    assert tested["passed"]["before"] == 0.0
    assert tested["passed"]["now"] == 0.75
    assert tested["passed"]["found"]["smallest_effect"] > 0
    assert all(one["adjusted"] >= one["found"]["p"] for one in tested.values())


def test_csv_has_a_row_for_each_attempt(material: Material) -> None:
    rows = list(csv.DictReader(io.StringIO(render_report("csv", material))))
    assert len(rows) == 16
    assert set(EVALUATORS) <= rows[0].keys()
    assert {row["passed"] for row in rows} == {"true", "false"}


def test_csv_holds_no_formulas(nasty: Material) -> None:
    for row in csv.reader(io.StringIO(render_report("csv", nasty))):
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@"))]


def test_junit_counts_failures_and_errors_apart(nasty: Material, material: Material) -> None:
    suites = ElementTree.fromstring(render_report("xml", material))  # noqa: S314  (our own writing)
    counts = [(one.get("name"), one.get("tests"), one.get("failures"), one.get("errors")) for one in suites]
    assert counts == [("boaster", "8", "8", "0"), ("oracle", "8", "2", "0")]
    failure = suites.findall("testsuite[@name='oracle']/testcase/failure")[0]
    assert failure.get("type") == "resolved"
    assert "probe 2 ('Eve')" in (failure.text or "")
    (suite,) = ElementTree.fromstring(render_report("xml", nasty))  # noqa: S314  (our own writing)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "2")


def test_markdown_begins_with_the_figures_and_lists_what_failed(material: Material) -> None:
    text = render_report("md", material)
    assert text.startswith("# Evaluation report\n\n| player | passed |")
    assert "| `oracle` | 6 of 8 | 75.0%" in text
    assert "## `oracle` beside `null` of `null.jsonl`" in text
    assert "- `report-insert`: 0% → 100%" in text
    assert "| `report-build #1` | `oracle` |" in text


def test_markdown_gives_no_meaning_to_what_a_model_said(nasty: Material) -> None:
    text = render_report("md", nasty)
    for line in text.splitlines():
        outside = "".join(line.split("`")[::2])
        assert "@everyone" not in outside or "\\<b\\>" in outside  # the title is escaped, all else is code
    widths = {line.count(" | ") for line in text.split("## What failed")[1].splitlines() if line.startswith("|")}
    assert widths == {2}


@pytest.mark.parametrize(("said", "shown"), [("a`b|c\nd", "`a´b¦c d`"), ("", "–"), ("  ", "–")])
def test_a_code_span_is_never_left(said: str, shown: str) -> None:
    assert code(said) == shown
