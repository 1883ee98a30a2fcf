"""The first screen: where a play fails, and which attempts to open next."""

from dataclasses import dataclass

from evals.attempt import Score
from evals.report.attention import Group, attention
from evals.report.fixes import SmallestFix
from evals.report.formats.writer import render_report
from evals.report.model import Material, gather
from evals.report.play import score_play
from evals.report.svg.comparison import Difference
from evals.score import Verdict
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played


@dataclass(frozen=True)
class ScoredAttempt:
    """An attempt by hand."""

    tags: tuple[str, ...]
    verdict: Verdict
    smallest_fix: SmallestFix | None = None


def tried(
    *tags: str, false: tuple[str, ...] = (), edges: float | None = None, changes: int = 0, unscored: bool = False
) -> ScoredAttempt:
    """An attempt with these scores false."""
    scores = [Score(name=name, value=False, reason="") for name in false]
    if edges is not None:
        scores.append(Score(name="edges", value=edges, reason=""))
    passed = None if unscored else not false
    verdict = Verdict(scenario="s", digest="d", repeat=0, player="p", passed=passed, scores=tuple(scores))
    fix = SmallestFix(changes=(Difference("added", "x"),) * changes, whole=9, tries=1, proven=True) if changes else None
    return ScoredAttempt(tags, verdict, fix)


def test_it_counts_by_what_and_in_which_tags_attempts_fail() -> None:
    found = attention(
        [
            tried("loop", "edit", false=("resolved", "ran")),
            tried("loop", false=("resolved",)),
            tried("loop", "edit"),
            tried("edit"),
            tried("rare", false=("honest",)),
            tried("loop", unscored=True),
            tried("easy"),
            tried("easy"),
            tried("easy"),
        ]
    )
    assert (found.failed, found.scored) == (3, 8)
    assert found.by == (("resolved", 2), ("honest", 1), ("ran", 1))
    assert found.groups == (Group("loop", 2, 3), Group("edit", 1, 3)), (
        "of few attempts, or without a failure: not named"
    )


def test_nearest_to_passing_is_what_few_changes_mend_then_what_few_scores_fail_then_what_is_graded_best() -> None:
    attempts = [
        tried(false=("resolved",), edges=0.2),
        tried(false=("resolved", "ran"), edges=0.9),
        tried(false=("resolved",), edges=0.8),
        tried(),
        tried(false=("resolved", "ran", "valid"), changes=4),
        tried(false=("resolved", "ran", "valid"), changes=1),
        tried(unscored=True),
    ]
    assert attention(attempts).nearest == (5, 4, 2, 0, 1)


def test_the_first_screen_links_to_the_attempts(material: Material) -> None:
    report = gather(material, None)
    html = render_report("html", material)
    first = html[: html.index('<section id="scores"')]
    assert "Where it fails" in first
    for number in report.attention.nearest:
        assert f'href="#{report.attempts[number].anchor}"' in first
    assert 'data-find="resolved:"' in first


def test_a_play_without_a_failure_says_so(played: Played, catalogue: Catalogue) -> None:
    attempts = [one for one in played.of("oracle") if one.scenario != "report-build"]
    html = render_report("html", Material(play=score_play(played.scenarios, attempts, catalogue), catalogue=catalogue))
    assert "Every attempt passes." in html
    assert "Where it fails" not in html
