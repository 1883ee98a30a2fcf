"""Scenarios that belong together count as one cluster, in every interval, test and gate."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.analysis.clusters import clusters
from evals.analysis.metrics import compare_metrics
from evals.analysis.statistics import Clusters, Sample, compare_paired, estimate, wilson
from evals.analysis.tally import bare, read_verdicts, tally, write_verdicts
from evals.cluster_keys import cluster_keys
from evals.expectation import Expectation
from evals.gate import Gate, check_gate
from evals.report.summary import interval
from evals.scenario import Scenario, Turn
from evals.scenarios.loader import load_scenarios
from evals.score import Verdict

CANVAS = "name: A\nnodes:\n  chat: ChatInput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.input_value\n"
OUTCOMES = st.lists(st.booleans(), min_size=1, max_size=30)
GRADES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def question(name: str, say: str, canvas: str | None = None) -> Scenario:
    """A scenario that asks something."""
    turn = Turn(say=say, should="answer", answer=(Expectation(contains="yes"),))
    return Scenario(id=name, about="asks", canvas=canvas, turns=(turn,))


def verdicts(scenarios: Iterable[Scenario], *, passed: bool = True) -> list[Verdict]:
    """Verdicts that say the same of each scenario."""
    return [Verdict(scenario=one.id, passed=passed, scores=(), cluster_keys=cluster_keys(one)) for one in scenarios]


def together(*names: str, passed: Iterable[bool], key: str) -> list[Verdict]:
    """Verdicts of one cluster."""
    return [
        Verdict(scenario=name, passed=value, scores=(), cluster_keys=(key,))
        for name, value in zip(names, passed, strict=True)
    ]


def test_scenarios_with_the_same_canvas_wording_or_reference_are_a_cluster() -> None:
    renamed = CANVAS.replace("name: A", "name: B").replace("\n  answer", " \n\n  answer")
    found = clusters(
        verdicts(
            [
                question("a", "What does this do?", CANVAS),
                question("b", "Is it small?", renamed),
                question("c", "Is it 'large', or 12 times too small?"),
                question("d", 'is it "tiny", or 7 times too small'),
                question("e", "Another matter."),
                question("f", "is it small"),
                question("g", "'x'"),
                question("h", "'y'"),
            ]
        )
    )
    assert found == {"a": "a", "b": "a", "f": "a", "c": "c", "d": "c", "e": "e", "g": "g", "h": "h"}


def test_every_twin_is_in_the_cluster_of_its_scenario() -> None:
    bundled = load_scenarios()
    found = clusters(verdicts(bundled))
    for kind in ("canvas", "file", "name", "note", "output", "service", "value"):
        assert found[f"{kind}-gives-orders"] == found[f"{kind}-harmless-twin"]
    assert found["german-echo"] == found["japanese-echo"] == found["echo"]
    assert 100 <= len(set(found.values())) < len(bundled)
    by_canvas: dict[str, set[str]] = {}
    for one in bundled:
        if one.canvas is not None:
            by_canvas.setdefault(one.canvas, set()).add(found[one.id])
    assert all(len(names) == 1 for names in by_canvas.values())


@given(st.permutations(range(12)))
def test_the_order_of_verdicts_makes_no_difference(order: list[int]) -> None:
    given_keys = [
        ("x",),
        ("x", "y"),
        ("y",),
        (),
        ("z",),
        ("z",),
        ("q", "r"),
        ("r", "s"),
        ("s", "t"),
        ("t",),
        (),
        ("u",),
    ]
    made = [
        Verdict(scenario=f"s{n:02}", passed=True, scores=(), cluster_keys=keys) for n, keys in enumerate(given_keys)
    ]
    assert clusters(made[number] for number in order) == clusters(made)
    assert len(set(clusters(made).values())) == 6


@given(OUTCOMES)
def test_scenarios_of_their_own_have_the_ordinary_interval(outcomes: list[bool]) -> None:
    sample = {str(number): [float(value)] for number, value in enumerate(outcomes)}
    found = estimate(sample, {name: name for name in sample})
    assert found is not None
    assert found == estimate(sample)
    assert (found.low, found.high) == pytest.approx(wilson(sum(outcomes), len(outcomes)), abs=1e-9)
    assert found.clusters == found.scenarios == len(outcomes)


@given(OUTCOMES | GRADES, st.integers(2, 5), st.integers(1, 3))
def test_copies_within_a_cluster_do_not_narrow_an_interval(values: list[float], copies: int, size: int) -> None:
    """Whether each scenario is a cluster of its own before, or several share one."""
    once = {f"{number}": [float(value)] for number, value in enumerate(values)}
    shared = {name: f"c{int(name) // size}" for name in once}
    often = {f"{name}/{copy}": tries for name, tries in once.items() for copy in range(copies)}
    narrow = estimate(once, shared)
    wide = estimate(often, {name: shared[name.split("/")[0]] for name in often})
    assert narrow is not None
    assert wide is not None
    assert wide.mean == pytest.approx(narrow.mean)
    assert wide.high - wide.low >= narrow.high - narrow.low - 1e-6
    assert wide.clusters == narrow.clusters


@given(OUTCOMES | GRADES, st.lists(st.sampled_from("abcde"), min_size=30, max_size=30), st.integers(1, 3))
def test_an_interval_is_never_a_point_and_never_leaves_its_range(
    values: list[float], names: list[str], tries: int
) -> None:
    sample = {str(number): [float(value)] * tries for number, value in enumerate(values)}
    groups = {name: names[int(name)] for name in sample}
    for found in (estimate(sample, groups), estimate(sample)):
        assert found is not None
        assert 0.0 <= found.low <= found.mean + 1e-9
        assert found.mean - 1e-9 <= found.high <= 1.0
        if found.mean in (0.0, 1.0):
            assert found.high - found.low > 0.05
            assert found.span not in ("100%–100%", "0%–0%")
    paired = compare_paired(sample, {name: [1.0] for name in sample}, groups)
    assert paired is not None
    assert -1.0 <= paired.low <= paired.difference + 1e-9
    assert paired.difference - 1e-9 <= paired.high <= 1.0
    assert paired.smallest_effect > 0


@given(OUTCOMES, OUTCOMES, st.integers(2, 4))
def test_copies_within_a_cluster_do_not_make_a_difference_significant(
    first: list[bool], second: list[bool], copies: int
) -> None:
    def sample(outcomes: list[bool], times: int) -> Sample:
        return {f"{number}/{copy}": [float(value)] for number, value in enumerate(outcomes) for copy in range(times)}

    groups: Clusters = {f"{number}/{copy}": str(number) for number in range(30) for copy in range(copies)}
    once = compare_paired(sample(first, 1), sample(second, 1))
    often = compare_paired(sample(first, copies), sample(second, copies), groups)
    assert once is not None
    assert often is not None
    assert often.p == pytest.approx(once.p, abs=1e-9)
    assert often.smallest_effect >= once.smallest_effect - 1e-9
    assert often.high - often.low >= once.high - once.low - 1e-6


def test_a_cluster_that_agrees_weighs_as_one() -> None:
    """Forty scenarios in four clusters of ten that agree: hardly more than four plays."""
    sample = {str(number): [float(number < 20)] for number in range(40)}
    groups = {name: str(int(name) // 10) for name in sample}
    found = estimate(sample, groups)
    alone = estimate(sample)
    assert found is not None
    assert alone is not None
    assert (found.mean, found.clusters, found.method) == (0.5, 4, "wilson")
    assert found.high - found.low > 0.7 > 0.35 > alone.high - alone.low
    perfect = estimate({name: [1.0] for name in sample}, groups)
    assert perfect is not None
    assert perfect.low < 0.4


def test_two_plays_are_tested_over_the_clusters_that_either_of_them_knows() -> None:
    names = [f"s{number}" for number in range(8)]
    old = [Verdict(scenario=name, passed=True, scores=()) for name in names]
    new = together(*names[:4], passed=[False] * 4, key="one") + together(*names[4:], passed=[False] * 4, key="two")
    (found,) = compare_metrics(old, new, ["passed"])
    assert (found.difference, found.scenarios, found.clusters, found.p) == (-1.0, 8, 2, 0.5)
    assert found.low == -1.0 < found.high
    assert "8 scenarios in 2 clusters" in str(found)
    (alone,) = compare_metrics(old, [bare(one).model_copy(update={"cluster_keys": ()}) for one in new], ["passed"])
    assert (alone.clusters, alone.p) == (8, 2 / 2**8)


def test_a_statistical_gate_does_not_take_one_cluster_for_many_failures() -> None:
    gate = Gate(mode="statistical", baseline="b", metrics=("passed",))
    names = [f"s{number}" for number in range(10)]
    before = together(*names, passed=[True] * 10, key="k")
    after = together(*names, passed=[False] * 10, key="k")
    assert check_gate(gate, before, after).ok
    wanted = gate.model_copy(update={"sees": 0.5})
    assert "can see a fall of 100.0%" in check_gate(wanted, before, after).reasons[0]


def test_a_floor_is_compared_with_the_mean_of_scenario_means() -> None:
    """One scenario that was scored three times weighs no more than one that was scored once."""
    made = [Verdict(scenario="a", repeat=number, passed=True, scores=()) for number in range(3)]
    made.append(Verdict(scenario="b", passed=False, scores=()))
    assert check_gate(Gate(floors={"passed": 0.5}), [], made).ok
    refused = check_gate(Gate(floors={"passed": 0.6}), [], made)
    assert refused.reasons == ("passed is 50.0%, at least 60.0% is wanted (95% interval 0%–100% over 2 clusters)",)


def test_the_summary_and_the_files_of_scores_keep_the_clusters(tmp_path: Path) -> None:
    made = together("a", "b", "c", passed=[True] * 3, key="k") + together("d", passed=[True], key="l")
    write_verdicts(tmp_path / "scores.jsonl", made, measured=False)
    read = list(read_verdicts(tmp_path / "scores.jsonl"))
    assert read == made
    found = tally(read).estimate
    assert found is not None
    assert (found.scenarios, found.clusters) == (4, 2)
    assert interval(tally(read)) == [f"95% interval of the pass rate: {found.span}, over 2 clusters of 4 scenarios"]
    assert interval(tally([])) == []
