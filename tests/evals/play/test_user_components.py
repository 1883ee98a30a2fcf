"""A scenario's own component types: made by the engine, kept for the user, recorded, and known where it is scored."""

from pathlib import Path

import pytest

from evals.attempt import Attempt
from evals.fix.attempts import fix_of
from evals.mutate.mutants import generate_mutants
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.play.user_components import (
    UserComponentType,
    make_user_components,
    save_user_components,
    with_user_components,
)
from evals.players.boaster import BoasterPlayer
from evals.players.null import NullPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.flows import BadFlow, read_flow
from evals.scenarios.validation import invalid_flows
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from runtime.components.store import FOLDER
from runtime.engine.component_results import ComponentDescription
from runtime.files.folders import user_folder
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

EDIT = scenario_named("own-edit")
SOURCE = EDIT.components[0]
HOSTILE = scenario_named("own-hostile").components[0]
NODE = {
    "display_name": "Words Backwards",
    "description": "Turns words around.",
    "template": {
        "text": {"name": "text", "type": "str", "input_types": ["Message"], "show": True, "value": ""},
        "between": {"name": "between", "type": "str", "input_types": ["Message"], "show": True, "value": " "},
    },
    "outputs": [{"name": "turned", "display_name": "Turned", "method": "turn", "types": ["Message"]}],
}


class Workshop(StandInRunner):
    """An engine that makes every component alike, and remembers what it made."""

    def __init__(self) -> None:
        super().__init__(results=[ran("Seen from behind: off < on")])
        self.made: list[str] = []

    async def describe_component(self, source: str, name: str) -> ComponentDescription:
        """The one component that it knows."""
        self.made.append(name)
        return ComponentDescription(node=NODE)


@pytest.fixture
def workshop() -> Workshop:
    """An engine that makes components."""
    return Workshop()


async def test_what_was_made_survives_the_journal(workshop: Workshop, catalogue: Catalogue) -> None:
    own = await make_user_components(EDIT.components, workshop)
    (made,) = own.types
    assert (made.type, own.sources, own.faults) == ("WordsBackwards", EDIT.components, ())
    attempt = Attempt(scenario="own-edit", digest="d", player="hand", components=list(own.types))
    again = Attempt.model_validate_json(attempt.model_dump_json())
    known = again.catalogue(catalogue).get("WordsBackwards")
    assert isinstance(known, ComponentType)
    assert known.code == SOURCE
    assert UserComponentType.of(known) == made


async def test_a_source_is_made_once(workshop: Workshop) -> None:
    source = SOURCE.replace("opposite order", "order that nobody else asks for")
    await make_user_components([source], workshop)
    await make_user_components([source, source], workshop)
    assert workshop.made == ["WordsBackwards"]


async def test_broken_and_hostile_sources_are_left_out_and_reported(workshop: Workshop) -> None:
    own = await make_user_components([HOSTILE, "class Half(", SOURCE], workshop)
    assert [one.type for one in own.types] == ["WordsBackwards"]
    assert own.sources == (SOURCE,)
    assert len(own.faults) == 2
    assert workshop.made in ([], ["WordsBackwards"])


async def test_without_an_engine_none_is_made(catalogue: Catalogue) -> None:
    own = await make_user_components([SOURCE], StandInRunner())
    assert (own.types, [fault.code for fault in own.faults]) == ((), ["no_engine"])
    assert with_user_components(catalogue, own.types) is catalogue


def test_the_user_has_all_of_them_broken_ones_too(tmp_path: Path) -> None:
    save_user_components([SOURCE, HOSTILE, "class Half("], tmp_path, "eval-1")
    names = sorted(path.name for path in (user_folder(tmp_path, "eval-1") / FOLDER).iterdir())
    assert names == ["Broken3.py", "KeyReader.py", "WordsBackwards.py"]


async def test_the_oracle_edits_a_canvas_with_an_own_component(
    environment: PlayEnvironment, workshop: Workshop
) -> None:
    from dataclasses import replace

    attempt = await play_attempt(EDIT, OraclePlayer(), replace(environment, runner=workshop))
    assert attempt.harness_error is None
    assert [one.type for one in attempt.components] == ["WordsBackwards"]
    verdict = score_attempt(EDIT, attempt, environment.catalogue)
    assert (verdict.value("preserved"), verdict.value("values"), verdict.value("ran")) == (True, 1.0, True)
    again = Attempt.model_validate_json(attempt.model_dump_json())
    assert score_attempt(EDIT, again, environment.catalogue) == verdict


async def test_a_component_that_cannot_be_made_is_named_with_the_flow_that_needs_it(
    environment: PlayEnvironment,
) -> None:
    attempt = await play_attempt(EDIT, NullPlayer(), environment)
    assert attempt.harness_error is not None
    assert "the canvas does not build" in attempt.harness_error
    assert "own component: No engine makes components here." in attempt.harness_error
    with pytest.raises(BadFlow):
        read_flow(EDIT.canvas or "", environment.catalogue)


async def test_the_flows_of_scenarios_with_components_are_checked_with_them(
    catalogue: Catalogue, workshop: Workshop
) -> None:
    broken = EDIT.model_copy(update={"alternatives": ("nodes:\n  a: NoSuchType\n",)})
    assert await invalid_flows([EDIT], catalogue, workshop) == []
    assert await invalid_flows([broken], catalogue) == [], "nobody can tell without an engine"
    (found,) = await invalid_flows([broken], catalogue, workshop)
    assert (found.scenario, found.place) == ("own-edit", "alternative 1")
    assert "NoSuchType" in found.message


@pytest.mark.engine
async def test_mutants_and_fixes_know_the_own_components(engine_environment: PlayEnvironment) -> None:
    attempt = await play_attempt(EDIT, OraclePlayer(), engine_environment)
    known = attempt.catalogue(engine_environment.catalogue)
    assert any("WordsBackwards" in mutant.what for mutant in generate_mutants(attempt, known, per_operator=3))
    wrong = await play_attempt(EDIT, OraclePlayer(wrong=0), engine_environment)
    fix = await fix_of(EDIT, wrong, engine_environment)
    assert fix is not None
    assert len(fix.actions) == 1


@pytest.mark.engine
@pytest.mark.parametrize("player", [NullPlayer(), BoasterPlayer()], ids=["null", "boaster"])
async def test_doing_nothing_earns_nothing_where_components_are_needed(
    player: NullPlayer | BoasterPlayer, engine_environment: PlayEnvironment
) -> None:
    for name in ("own-build", "own-edit", "own-insert", "own-hostile"):
        scenario = scenario_named(name)
        attempt = await play_attempt(scenario, player, engine_environment)
        verdict = score_attempt(scenario, attempt, engine_environment.catalogue)
        assert (verdict.passed, attempt.harness_error) == (False, None), name
