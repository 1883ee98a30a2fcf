"""Comparing two plays and holding one against a gate."""

from pathlib import Path

import pytest

from evals.analysis.comparison import compare
from evals.analysis.tally import write_verdicts
from evals.attempt import Score
from evals.gate import Gate, GateError, check_gate, load_gate
from evals.score import EVALUATORS, Verdict


def verdict(scenario: str, passed: bool | None, *, digest: str = "d", **values: bool | float) -> Verdict:
    """A verdict with some of its scores."""
    scores = tuple(Score(name=name, value=values.get(name), reason="because") for name in EVALUATORS)
    error = "broken" if passed is None else None
    return Verdict(scenario=scenario, digest=digest, passed=passed, scores=scores, harness_error=error)


def test_what_passed_and_does_not_any_more_is_lost() -> None:
    before = [verdict("a", True, resolved=True), verdict("b", True), verdict("c", False), verdict("gone", True)]
    after = [verdict("a", False, resolved=False), verdict("b", None), verdict("c", True), verdict("new", True)]
    found = compare(before, after)
    assert [turned.scenario for turned in found.lost] == ["a", "b", "gone"]
    assert found.lost[0].why == ("resolved: because",)
    assert found.lost[1].why == ("harness: broken",)
    assert [turned.scenario for turned in found.gained] == ["c"]
    assert (found.added, found.missing, found.same) == (("new",), ("gone",), False)
    assert found.rates["resolved"] == (1.0, 0.0)


def test_a_score_that_moved_is_listed_though_the_verdict_stays() -> None:
    found = compare([verdict("a", True, edges=0.5)], [verdict("a", True, edges=1.0)])
    assert [(moved.name, moved.before, moved.after) for moved in found.moved] == [("edges", 0.5, 1.0)]
    assert found.lost == ()


def test_a_scenario_that_changed_is_not_compared() -> None:
    found = compare([verdict("a", True)], [verdict("a", False, digest="other")])
    assert (found.lost, found.changed) == ((), ("a",))


def test_a_play_is_the_same_as_itself() -> None:
    plays = [verdict("a", True, edges=0.5), verdict("b", False)]
    assert compare(plays, plays).same


def test_an_exact_gate_stops_any_pass_that_turned_to_fail() -> None:
    gate, baseline = Gate(), [verdict("a", True), verdict("b", False), verdict("elsewhere", True)]
    assert check_gate(gate, baseline, [verdict("a", True), verdict("b", True)]).ok
    stopped = check_gate(gate, baseline, [verdict("a", False, ran=False), verdict("b", True)])
    assert (stopped.ok, stopped.reasons) == (False, ("a passed before: ran: because",))
    assert stopped.improvements == ("b passes now",)
    assert stopped.model_dump(mode="json")["news"] == ["b passes now"]


@pytest.mark.parametrize(
    ("floors", "ok"),
    [
        ({"honest": 1.0}, False),
        ({"honest": 0.5}, True),
        ({"passed": 0.5}, True),
        ({"passed": 0.6}, False),
        ({"preserved": 0.1}, False),
    ],
)
def test_a_floor_is_a_mean_and_what_was_not_scored_meets_none(floors: dict[str, float], ok: bool) -> None:
    verdicts = [verdict("a", True, honest=True), verdict("b", False, honest=False)]
    assert check_gate(Gate(floors=floors), [], verdicts).ok is ok


def test_a_harness_error_never_gets_through() -> None:
    assert not check_gate(Gate(), [], [verdict("a", None), verdict("b", True)]).ok


def test_a_gate_is_read_with_its_baseline(tmp_path: Path) -> None:
    write_verdicts(tmp_path / "base.jsonl", [verdict("a", True)])
    path = tmp_path / "gate.yaml"
    path.write_text("baseline: base.jsonl\nfloors: {resolved: 0.5}\n", encoding="utf-8")
    gate, baseline = load_gate(path)
    assert (gate.floors, [one.scenario for one in baseline]) == ({"resolved": 0.5}, ["a"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("floors: {unheard: 1}", "there is no score unheard"),
        ("floors: {honest: 2}", "less than or equal to 1"),
        ("mode: loose", "^gate.yaml: mode: .*exact"),
        ("baseline: none.jsonl", "none.jsonl cannot be read"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_gate_that_cannot_be_used_says_why(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(GateError, match=words):
        load_gate(path)
