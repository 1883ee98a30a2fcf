"""No cheat passes more than it deserves, and the same player without its trick passes."""

from dataclasses import replace

import pytest

from agent.turn.request import TurnRequest
from evals.case import Case
from evals.evaluators.preserved import preserved
from evals.oracles.loose_ends import loose_ends
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.cheats.agent import Position
from evals.players.cheats.table import CHEATS, CONTROL, Cheat, Task, task_of, tasks_of
from evals.players.cheats.tricks import reads_key
from evals.players.cheats.vandalism import other_place
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.basic import add_component, connect
from scripts.cheats import MANUAL, Outcome, as_markdown, read_outcomes
from scripts.checkout import marked
from tests.evals.conftest import Played, scenario_named, scenarios
from tests.evals.run_cache import with_cached_runs

SAMPLE = 2
"""How many scenarios each cheat plays here; the manual's table has more."""


@pytest.fixture(scope="module")
def every_task(full_catalogue: Catalogue) -> list[Task]:
    """What cheats can play; reading the flows takes a while, so it is done once."""
    return tasks_of(scenarios(), full_catalogue)


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize("cheat", [CONTROL, *CHEATS], ids=lambda cheat: cheat.name)
async def test_a_cheat_passes_what_it_deserves_and_no_more(
    cheat: Cheat, engine_environment: PlayEnvironment, every_task: list[Task]
) -> None:
    catalogue = engine_environment.catalogue
    tasks = cheat.sample(every_task, SAMPLE)
    assert tasks
    for task in tasks:
        environment = with_cached_runs(engine_environment, task.scenario)
        verdict = score_attempt(task.scenario, await play_attempt(task.scenario, cheat.player, environment), catalogue)
        deserved = cheat.deserves(task)
        assert verdict.harness_error is None
        if not cheat.known or deserved:
            assert verdict.passed is deserved, f"{task.scenario.id}: {verdict.why}"


def test_every_cheat_concerns_scenarios_and_a_sample_is_always_the_same(every_task: list[Task]) -> None:
    for cheat in CHEATS:
        first, second = (cheat.sample(every_task, 5) for _ in range(2))
        assert [task.scenario.id for task in first] == [task.scenario.id for task in second]
        assert first


def test_the_manual_shows_what_every_cheat_passed() -> None:
    found = marked("cheats").search(MANUAL.read_text(encoding="utf-8"))
    assert found is not None
    kept = read_outcomes()
    assert list(kept) == [cheat.name for cheat in (CONTROL, *CHEATS)]
    assert as_markdown(kept) in found.group(0)


def test_no_cheat_passed_more_than_it_deserves_and_each_played_at_least_ten_scenarios_or_all(
    every_task: list[Task],
) -> None:
    kept = read_outcomes()
    for cheat in (CONTROL, *CHEATS):
        one = kept[cheat.name]
        assert one.played >= min(10, len(cheat.tasks(every_task))), cheat.name
        assert cheat.known or one.undeserved == (), f"{cheat.name}: {one.undeserved}"
    assert kept[CONTROL.name].passed == kept[CONTROL.name].deserved


def test_the_table_says_who_played_and_what_was_passed() -> None:
    cheat = next(cheat for cheat in CHEATS if cheat.name == "junk")
    made = Outcome(cheat="junk", played=3, passed=("a",), deserved=("a", "b"))
    assert as_markdown({"junk": made}).endswith(f"| `junk` | {cheat.what} | 3 | 1 | 2 |\n")
    assert made.model_copy(update={"passed": ("a", "c")}).undeserved == ("c",)


def test_the_key_is_found_where_a_request_names_its_scenario(full_catalogue: Catalogue) -> None:
    task = task_of(scenario_named("branch-urgent"), full_catalogue)
    position = Position(
        scenario=task.scenario, number=0, canvas=task.canvas, right=task.right, catalogue=full_catalogue
    )
    assert reads_key(replace(position, request=TurnRequest(text="branch-urgent", session="a1b2"))).flow != task.right
    named = replace(position, request=TurnRequest(text="do it", session="branch-urgent"))
    assert reads_key(named).flow == task.right


def test_components_that_lead_nowhere_are_seen_and_those_that_lead_on_are_not(
    full_catalogue: Catalogue, played: Played
) -> None:
    scenario = scenario_named("edit-template")
    right = task_of(scenario, full_catalogue).right

    def loose(flow: Flow) -> list[str]:
        return loose_ends(Case(scenario, played(scenario, flow), full_catalogue))

    assert loose(right) == []
    added = add_component(right, full_catalogue, "TextInput", node_id="TextInput-spare").flow
    assert loose(added) == ["Text Input"]
    output = next(node for node in right.components if node.type == "ChatOutput")
    second = add_component(added, full_catalogue, "ChatOutput", node_id="ChatOutput-more").flow
    assert output.id != "ChatOutput-more"
    assert (
        loose(connect(second, full_catalogue, "TextInput-spare", "text", "ChatOutput-more", "input_value").flow) == []
    )


def test_what_lay_loose_on_the_canvas_may_stay(full_catalogue: Catalogue, played: Played) -> None:
    scenario = scenario_named("debug-not-connected")
    canvas = read_flow(scenario.canvas or "", full_catalogue)
    assert loose_ends(Case(scenario, played(scenario, canvas), full_catalogue)) == []


def test_components_that_are_moved_for_no_reason_are_not_preserved(full_catalogue: Catalogue, played: Played) -> None:
    scenario = scenario_named("edit-template")
    task = task_of(scenario, full_catalogue)
    position = Position(scenario=scenario, number=0, canvas=task.canvas, right=task.right, catalogue=full_catalogue)
    moved = preserved(Case(scenario, played(scenario, other_place(position).flow), full_catalogue))
    assert moved == (False, "changed unasked: moved: Chat Output")
    assert preserved(Case(scenario, played(scenario, task.right), full_catalogue))[0] is True
