"""The smallest fix in a report: told beside its attempt, in every form, drawn, harmless, and only where it fits."""

import json

import pytest

from evals.attempt import Attempt
from evals.fix.records import Fix
from evals.report.clipping import SIZES
from evals.report.formats.writer import render_report
from evals.report.model import Material, gather
from evals.report.play import score_play
from flows.actions import RemoveComponent
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.edits import configure
from tests.evals.report.conftest import Played

HOSTILE = "</text></svg><script>document.title='OWNED'</script>{name}"


def fix_of(attempt: Attempt, catalogue: Catalogue, template: str = "hello {name}") -> Fix:
    """A fix that sets the template of the attempt's prompt."""
    assert attempt.flow is not None
    prompt = next(node.id for node in attempt.flow.nodes if node.type == "Prompt Template")
    fixed = configure(attempt.flow, catalogue, prompt, {"template": template}).flow
    names = {"scenario": attempt.scenario, "digest": attempt.digest, "repeat": attempt.repeat}
    return Fix(
        **names,
        player=attempt.player,
        versions=attempt.versions,
        actions=tuple(diff(attempt.flow, fixed)),
        whole=3,
        tries=4,
        proven=True,
    )


@pytest.fixture
def failed(played: Played) -> Attempt:
    """The oracle's first try that its second probe fails."""
    return next(one for one in played.of("oracle") if one.scenario == "report-build" and not one.repeat)


def material_of(played: Played, catalogue: Catalogue, *fixes: Fix) -> Material:
    """The oracle's play with fixes."""
    return Material(play=score_play(played.scenarios, played.of("oracle"), catalogue), catalogue=catalogue, fixes=fixes)


def test_a_failed_attempt_shows_its_fix_as_changes_and_as_a_canvas(
    failed: Attempt, played: Played, catalogue: Catalogue
) -> None:
    material = material_of(played, catalogue, fix_of(failed, catalogue))
    html = render_report("html", material)
    assert "1 of 3 changes to the nearest reference flow would do; every smaller set was tried (4 flows run)" in html
    assert "Set template of Hello to “hello {name}”, from “Hello {name}!”" in html
    assert html.count("<figcaption>Built, with the fix</figcaption>") == 1
    assert "1 change away" in html
    shown = [one.smallest_fix for one in gather(material, SIZES[0]).attempts if one.smallest_fix is not None]
    assert len(shown) == 1, "the other try has no fix"
    assert shown[0].picture is not None
    assert html == render_report("html", material)


def test_the_other_forms_tell_the_changes(failed: Attempt, played: Played, catalogue: Catalogue) -> None:
    material = material_of(played, catalogue, fix_of(failed, catalogue))
    attempts = json.loads(render_report("json", material))["attempts"]
    found = next(one for one in attempts if (one["scenario"], one["repeat"]) == (failed.scenario, 0))
    assert found["fix"]["changes"] == ["Set template of Hello to “hello {name}”, from “Hello {name}!”"]
    assert (found["fix"]["whole"], found["fix"]["tries"], found["fix"]["proven"]) == (3, 4, True)
    assert all(one["fix"] is None for one in attempts if one is not found)
    text = render_report("md", material)
    assert "| attempt | player | why | smallest fix |" in text
    assert "`Set template of Hello to “hello {name}”" in text
    assert "smallest fix |" not in render_report("md", material_of(played, catalogue))


def test_what_a_fix_would_write_stays_text(failed: Attempt, played: Played, catalogue: Catalogue) -> None:
    html = render_report("html", material_of(played, catalogue, fix_of(failed, catalogue, HOSTILE)))
    assert "<script>document" not in html
    assert "&lt;script&gt;document.title" in html


def test_a_fix_of_another_play_is_reported_and_not_drawn(failed: Attempt, played: Played, catalogue: Catalogue) -> None:
    stale = fix_of(failed, catalogue).model_copy(update={"actions": (RemoveComponent({"id": "gone"}, 0, ()),)})
    material = material_of(played, catalogue, stale)
    html = render_report("html", material)
    assert "it was found for another play of this attempt, and does not fit this flow" in html
    assert "Built, with the fix" not in html
    assert [one.smallest_fix.fits for one in gather(material, None).attempts if one.smallest_fix is not None] == [False]


def test_no_drawing_is_made_where_no_details_are_shown(failed: Attempt, played: Played, catalogue: Catalogue) -> None:
    material = material_of(played, catalogue, fix_of(failed, catalogue))
    report = gather(material, None)
    (shown,) = [one.smallest_fix for one in report.attempts if one.smallest_fix is not None]
    assert shown.changes
    assert shown.picture is None
