"""The measured kill rate: high enough, of all operators, and what the manual shows."""

import re
from pathlib import Path

from evals.mutate.matrix import ALIKE, Survivor, build_matrix, read_accepted
from evals.mutate.measurement import MEASURED, Measured, as_markdown, near_misses_as_markdown
from evals.mutate.mutants import CONTROL, OPERATORS
from evals.mutate.near_misses import NEAR_MISSES
from evals.mutate.trials import Trial
from evals.scenarios.loader import load_scenarios
from scripts.kill_rate import Tried, drawn, read_tried

MANUAL = Path(__file__).parent.parent.parent.parent / "docs" / "evaluations.md"
KEPT = Measured.model_validate_json(MEASURED.read_text(encoding="utf-8"))


def test_the_measured_rate_is_at_least_95_of_100_and_of_all_operators() -> None:
    assert KEPT.kill_rate >= 0.95
    assert set(KEPT.operators) == set(OPERATORS)
    assert KEPT.scenarios == KEPT.drawn_from, "all, and no sample"
    assert KEPT.scenarios >= 0.95 * len(drawn(load_scenarios())), "make kill-rate"
    assert KEPT.passed + KEPT.undecided == KEPT.scenarios
    assert KEPT.undecided <= 0.05 * KEPT.scenarios
    assert set(KEPT.accepted) <= {survivor.id for survivor in read_accepted()}


def test_the_verdict_of_97_of_100_near_misses_turns_and_the_others_are_listed_with_the_reason() -> None:
    assert KEPT.turn_rate >= 0.97
    whole = KEPT.scenarios == KEPT.drawn_from
    assert set(KEPT.near_misses) == set(NEAR_MISSES) or (not whole and set(KEPT.near_misses) < set(NEAR_MISSES))
    assert len(KEPT.near_misses) >= 0.9 * len(NEAR_MISSES)
    assert sum(row.tried for row in KEPT.near_misses.values()) > 3 * KEPT.scenarios
    listed = {one.id for one in read_accepted(ALIKE)}
    drawn_ids = {one.id for one in drawn(load_scenarios(), KEPT.scenarios)}
    assert {name for name in listed if name.partition("/")[0] in drawn_ids} == set(KEPT.alike)


def test_nothing_unchanged_is_seen_as_a_fault() -> None:
    assert KEPT.controls > 100
    assert KEPT.disturbed == ()


def test_the_manual_shows_what_was_measured() -> None:
    found = re.search(r"<!-- kill-rate -->\n(.*?)<!-- /kill-rate -->", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    assert found[1] == as_markdown(KEPT)


def test_the_manual_shows_the_near_misses() -> None:
    found = re.search(r"<!-- near-misses -->\n(.*?)<!-- /near-misses -->", MANUAL.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert found[1] == near_misses_as_markdown(KEPT)


def test_near_misses_count_by_their_verdicts_and_apart_from_the_kill_rate() -> None:
    trials = [
        Trial("a/short_memory/0", "short_memory", "", ("behaves",), failed=True, alike=False),
        Trial("b/short_memory/0", "short_memory", "", ("values",), failed=False, alike=True),
        Trial("c/short_memory/0", "short_memory", "", (), failed=False, alike=True),
        Trial("d/short_memory/0", "short_memory", "one", (), failed=False, alike=False),
    ]
    listed = [Survivor(id=f"{name}/short_memory/0", because="the same") for name in "bd"]
    counted = build_matrix(trials, alike=listed)
    assert (counted.kill_rate, counted.survivors, counted.operators) == (None, (), {})
    assert [trial.id[0] for trial in counted.alike] == ["b"]
    assert [trial.id[0] for trial in counted.missed] == ["c", "d"]
    assert counted.turn_rate == 1 / 3
    kept = Measured.of(counted, scenarios=4, passed=4, per_operator=1, lfx="1.13.0")
    text = near_misses_as_markdown(kept)
    assert "Of 4 near misses, **the verdict of 1 (25.0%) turned from pass to fail**." in text
    assert "No input tells 1 of the others from the reference" in text
    assert "without them it is 33.3%, and 2 passed." in text
    assert "| `short_memory` | 4 | 1 | behaves 1, values 1 |" in text


def test_a_matrix_is_kept_with_its_controls_apart() -> None:
    trials = [
        Trial("a/drop_edge/0", "drop_edge", "", ("resolved", "edges"), failed=True),
        Trial("b/drop_edge/0", "drop_edge", "", ("edges",), failed=False),
        Trial("c/drop_edge/0", "drop_edge", "", (), failed=False),
        Trial(f"a/{CONTROL}/0", CONTROL, "", (), failed=False),
        Trial(f"b/{CONTROL}/0", CONTROL, "", ("ran",), failed=True),
    ]
    counted = build_matrix(trials, [Survivor(id="c/drop_edge/0", because="the edge led nowhere")])
    kept = Measured.of(counted, scenarios=3, passed=3, per_operator=1, lfx="1.13.0")
    assert (kept.tried, kept.killed, kept.failed, kept.kill_rate) == (3, 2, 1, 1.0)
    assert (kept.controls, kept.disturbed) == (2, (f"b/{CONTROL}/0",))
    assert kept.accepted == ("c/drop_edge/0",)
    text = as_markdown(kept)
    assert "**2 of 3 mutants killed (100.0%)**, 1 survivors, 1 of them accepted; in 1 (33.3%) the verdict" in text
    assert "Of 2 attempts run and scored again unchanged, 1 were seen as a fault." in text
    assert "| `drop_edge` | 3 | 2 | 1 | edges 2, resolved 1 |" in text
    assert Measured.model_validate_json(kept.model_dump_json()) == kept
    assert text.startswith("Measured over 3 scenarios (3 passed")
    sample = Measured.of(counted, scenarios=3, drawn_from=9, passed=3, per_operator=1, lfx="1.13.0")
    assert as_markdown(sample).startswith("Measured over a seeded sample of 3 of 9 scenarios (3 passed")
    open_ones = Measured.of(counted, scenarios=3, passed=2, undecided=1, per_operator=1, lfx="1.13.0")
    assert "(2 passed by the oracle, 1 undecided without a judge of words)" in as_markdown(open_ones)


def test_a_trial_in_which_the_engine_ended_twice_counts_nowhere() -> None:
    trials = [
        Trial("a/drop_edge/0", "drop_edge", "", ("edges",), failed=True),
        Trial("b/drop_edge/0", "drop_edge", "", (), failed=False, not_judged="it ended"),
        Trial("c/short_memory/0", "short_memory", "", (), failed=False, not_judged="it ended"),
    ]
    counted = build_matrix(trials)
    assert (counted.kill_rate, counted.survivors, counted.missed) == (1.0, (), ())
    kept = Measured.of(counted, scenarios=3, passed=3, per_operator=1, lfx="1.13.0")
    assert kept.not_judged == ("b/drop_edge/0", "c/short_memory/0")
    assert "In 2 more the flow engine ended twice" in as_markdown(kept)


def test_a_sample_of_scenarios_is_the_beginning_of_one_order() -> None:
    scenarios = load_scenarios()
    whole = drawn(scenarios)
    assert drawn(scenarios, 20) == whole[:20]
    assert sorted(one.id for one in whole) == [one.id for one in scenarios if not one.open]


def test_what_was_measured_of_a_scenario_is_not_measured_again_while_nothing_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    done = Tried(
        scenario="a",
        digest="1",
        conditions="now",
        trials=(Trial("a/drop_edge/0", "drop_edge", "", ("edges",), failed=True),),
    )
    failed = Tried(scenario="b", digest="2", conditions="now", failed="ran: it did not")
    before = Tried(scenario="c", digest="3", conditions="then")
    lines = [one.model_dump_json() for one in (done, failed, before)]
    path.write_text("\n".join([*lines, lines[0][:40]]), encoding="utf-8")
    assert read_tried(path, "now") == {"1": done}
    assert read_tried(tmp_path / "none.jsonl", "now") == {}
