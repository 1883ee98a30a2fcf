"""Right flows that no scenario lists pass, and what was measured of all is in the manual and low enough."""

from pathlib import Path

import pytest

from evals.mutate.false_alarms import (
    ALTERNATIVE,
    KEPT,
    KINDS,
    Alarms,
    FalseAlarms,
    alarm,
    as_markdown,
    variation_verdicts,
)
from evals.mutate.variations import VARIATIONS
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fingerprints import fingerprint
from scripts.checkout import marked
from scripts.false_alarms import MANUAL, Judged, counted, read_judged
from scripts.kill_rate import drawn
from tests.evals.conftest import Played, scenario_named, scenarios
from tests.evals.run_cache import with_cached_runs

MEASURED = FalseAlarms.model_validate_json(KEPT.read_text(encoding="utf-8"))
SAMPLE = ("branch-urgent", "edit-add-tool", "model-system")


def test_at_most_2_of_100_right_flows_fail_and_every_kind_was_judged() -> None:
    assert MEASURED.rate <= 0.02
    assert set(MEASURED.kinds) == set(KINDS)
    listed = [one for one in drawn(scenarios()) if one.alternatives][: MEASURED.alternatives_of]
    assert MEASURED.kinds[ALTERNATIVE].flows == sum(len(one.alternatives) for one in listed)
    assert all(MEASURED.kinds[name].flows for name in VARIATIONS)


def test_the_manual_shows_what_was_measured() -> None:
    found = marked("false-alarms").search(MANUAL.read_text(encoding="utf-8"))
    assert found is not None
    assert as_markdown(MEASURED) in found.group(0)


@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("name", SAMPLE)
async def test_variations_of_a_right_flow_pass(name: str, engine_environment: PlayEnvironment) -> None:
    scenario = scenario_named(name)
    environment = with_cached_runs(engine_environment, scenario)
    attempt = await play_attempt(scenario, OraclePlayer(), environment)
    verdicts = await variation_verdicts(scenario, attempt, environment)
    assert verdicts
    assert {kind: verdict.why for kind, verdict in verdicts if verdict.passed is not True} == {}


def test_a_variation_changes_the_document_and_only_one_what_the_flow_is(full_catalogue: Catalogue) -> None:
    flow = read_flow(scenario_named("branch-urgent").reference or "", full_catalogue)
    varied = {name: make(flow, Flow.empty(), full_catalogue) for name, make in VARIATIONS.items()}
    assert all(other is not None and other != flow for other in varied.values())
    same = {name for name, other in varied.items() if other and fingerprint(other) == fingerprint(flow)}
    assert same >= {"other_ids", "other_places", "other_order"}
    assert "one_step_more" not in same


def test_what_is_on_the_canvas_stays_as_it_is(full_catalogue: Catalogue) -> None:
    flow = read_flow(scenario_named("branch-urgent").reference or "", full_catalogue)
    made = {name: make(flow, flow, full_catalogue) for name, make in VARIATIONS.items()}
    assert {name for name, other in made.items() if other is not None and other != flow} == set()


def test_a_flow_that_fails_is_an_alarm_and_one_that_only_words_decide_is_none(
    played: Played, full_catalogue: Catalogue
) -> None:
    scenario = scenario_named("branch-urgent")
    failed = score_attempt(scenario, played(scenario, None), full_catalogue)
    assert failed.passed is False
    left_open = failed.model_copy(update={"passed": None, "undecided": "a statement"})
    assert alarm(failed)
    assert alarm(left_open) == ""
    alarms = Alarms().and_one("one", alarm(failed)).and_one("two", alarm(left_open))
    assert (alarms.flows, list(alarms.failed)) == (2, ["one"])
    text = as_markdown(FalseAlarms(lfx="1.0", kinds={ALTERNATIVE: alarms}))
    assert text.startswith("Of 2 right flows on lfx 1.0, **1 failed (50.0%**, 95% interval ")
    assert f"| {KINDS[ALTERNATIVE]} | 2 | 1 |" in text


def test_what_was_judged_of_a_scenario_is_not_judged_again_and_is_counted_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    one = Judged(
        scenario="a", digest="1", conditions="now", varied=False, failed={"alternative/0": "", "alternative/1": "x"}
    )
    two = Judged(scenario="a", digest="1", conditions="now", varied=True, failed={"other_ids/0": ""})
    before = Judged(scenario="b", digest="2", conditions="then", varied=True, failed={})
    lines = [each.model_dump_json() for each in (one, two, before)]
    path.write_text("\n".join([*lines, lines[0][:30]]), encoding="utf-8")
    assert read_judged(path, "now") == {("1", False): one, ("1", True): two}
    found = counted([one, two], sample=1, lfx="1.0")
    assert (found.flows, found.failed, found.alternatives_of, found.varied) == (3, 1, 1, 1)
    assert found.kinds[ALTERNATIVE].failed == {"a/1": "x"}
