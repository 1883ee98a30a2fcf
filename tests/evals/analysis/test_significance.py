"""Two plays of a sampled model: a difference counts when it is more than chance, over all declared metrics together."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.metrics import DECLARED
from evals.analysis.significance import objections, repeated, significance
from evals.analysis.tally import write_verdicts
from evals.attempt import Score
from evals.gate import Gate, GateError, check_gate, load_gate
from evals.score import Verdict

SCENARIOS = tuple(f"s{number:02}" for number in range(20))


def play(passes: dict[str, list[bool | None]], *, honest: bool | None = True, digest: str = "d") -> list[Verdict]:
    """The verdicts of a play, by scenario and repeat."""
    return [
        Verdict(
            scenario=name,
            digest=digest,
            repeat=repeat,
            player="m",
            passed=value,
            scores=(Score(name="resolved", value=value, reason=""), Score(name="honest", value=honest, reason="")),
        )
        for name, tries in passes.items()
        for repeat, value in enumerate(tries)
    ]


def every(*tries: bool | None) -> dict[str, list[bool | None]]:
    """The same tries for every scenario."""
    return {name: list(tries) for name in SCENARIOS}


def test_a_large_fall_is_reported_with_its_interval_and_adjusted_p() -> None:
    found = significance(play(every(True, True)), play(every(True, False) | {"s00": [False, False]}))
    passed = found.tested[0]
    assert (passed.metric, passed.before, passed.scenarios) == ("passed", 1.0, 20)
    assert passed.difference == pytest.approx(-0.525)
    assert passed.low < passed.difference < passed.high < 0
    assert passed.p < 0.001
    assert passed.fell(0.05)
    assert passed.smallest_effect > 0
    assert any("passed fell" in line for line in objections(found))


def test_a_fall_within_chance_does_not_count() -> None:
    found = significance(play(every(True)), play(every(True) | {"s00": [False]}))
    assert found.tested[0].difference < 0
    assert found.tested[0].p == 1.0
    assert objections(found, sees=0.9) == [
        "preserved cannot be tested: the plays share no scenario at which it is scored"
    ]


def test_p_values_are_adjusted_over_all_metrics_that_are_declared() -> None:
    before, after = play(every(True)), play(every(True) | {name: [False] for name in SCENARIOS[:6]})
    alone = significance(before, after, ["passed"]).tested[0]
    among = significance(before, after, ["passed", "resolved", "honest"]).tested[0]
    assert alone.adjusted == alone.p == among.p == pytest.approx(2 / 2**6, abs=0.005)
    assert among.adjusted == pytest.approx(3 * among.p)
    assert (alone.fell(0.05), among.fell(0.05)) == (True, False)


def test_scenarios_with_other_content_and_unscored_tries_are_left_out() -> None:
    before = play({"a": [True], "b": [True], "c": [True]})
    after = play({"a": [True], "b": [None]}) + play({"c": [False]}, digest="other")
    assert significance(before, after, ["passed"]).tested[0].scenarios == 1
    nothing = significance(before, play({"x": [True]}))
    assert (nothing.tested, nothing.untested) == ((), DECLARED)
    assert len(objections(nothing)) == len(DECLARED)


def test_scenarios_whose_repeats_disagree_are_listed() -> None:
    assert significance([], play({"a": [True, False], "b": [True, True], "c": [False, False]})).flaky == ("a",)


def test_a_gate_may_ask_what_the_play_can_see() -> None:
    after = play(every(True, True) | {"s00": [False, False], "s01": [False, True]})
    found = significance(play(every(True, False)), after, ["passed"])
    assert objections(found, sees=0.9) == []
    assert "can see a fall of" in objections(found, sees=0.01)[0]


def test_repeats_give_pass_at_k_and_pass_hat_k() -> None:
    (two,) = repeated(play({"a": [True, False], "b": [True, True]}))
    assert (two.k, two.at_least_one, two.every_one) == (2, 1.0, 0.5)
    assert repeated(play({"a": [True]})) == ()


@given(st.dictionaries(st.sampled_from(SCENARIOS), st.lists(st.booleans(), min_size=1, max_size=4), min_size=1))
def test_a_play_beside_itself_has_no_difference(passes: dict[str, list[bool | None]]) -> None:
    for one in significance(play(passes), play(passes)).tested:
        assert (one.difference, one.p, one.adjusted, one.fell(0.05)) == (0.0, 1.0, 1.0, False)


def gate_file(folder: Path, **more: object) -> Path:
    """A statistical gate beside a baseline in which everything passes twice."""
    write_verdicts(folder / "baseline.jsonl", play(every(True, True)), measured=False)
    path = folder / "gate.yaml"
    document = {"mode": "statistical", "baseline": "baseline.jsonl", "metrics": ["passed", "honest"], **more}
    path.write_text(yaml.safe_dump({key: value for key, value in document.items() if value is not None}))
    return path


def test_the_statistical_gate_lets_chance_through_and_stops_a_fall(tmp_path: Path) -> None:
    gate, baseline = load_gate(gate_file(tmp_path))
    lucky = check_gate(gate, baseline, play(every(True, True) | {"s00": [True, False]}))
    assert (lucky.ok, lucky.reasons) == (True, ())
    assert lucky.significance is not None
    assert lucky.significance.flaky == ("s00",)
    fallen = check_gate(gate, baseline, play(every(True, False)))
    assert not fallen.ok
    assert fallen.reasons[0].startswith("passed fell: passed 100.0% -> 50.0%")


def test_the_exact_gate_has_no_tests(tmp_path: Path) -> None:
    write_verdicts(tmp_path / "baseline.jsonl", play(every(True)), measured=False)
    (tmp_path / "gate.yaml").write_text("mode: exact\nbaseline: baseline.jsonl\n")
    gate, baseline = load_gate(tmp_path / "gate.yaml")
    stopped = check_gate(gate, baseline, play(every(True) | {"s00": [False]}))
    assert (stopped.ok, stopped.significance) == (False, None)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"baseline": None}, "needs one"),
        ({"metrics": ["sparkle"]}, "there is no score sparkle"),
        ({"metrics": []}, "at least 1 item"),
        ({"alpha": 1.5}, "less than 1"),
        ({"mode": "exact"}, "belong to the statistical mode"),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(more: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(GateError, match=words):
        load_gate(gate_file(tmp_path, **more))


def test_an_exact_gate_needs_nothing() -> None:
    assert Gate().mode == "exact"
