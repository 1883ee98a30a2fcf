"""What scenarios may also ask for: the user's edits and notes survive, tools are used, files are written."""

import json

import pytest
from pydantic import ValidationError
from pydantic_ai import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.attempt import Attempt
from evals.case import Case
from evals.expectation import ToolUse
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.evals.conftest import Played, scenario_named
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

WORDING = scenario_named("user-edit-wording")
ASKED = scenario_named("user-edit-question")
TICK = scenario_named("file-tick-off")
README = scenario_named("file-write-readme")
TEMPLATE = scenario_named("edit-template")
NOTE = {"id": "note-1", "type": "noteNode", "position": {"x": 0, "y": 0}, "data": {"id": "note-1", "type": "note"}}


def value(scenario: Scenario, attempt: Attempt, catalogue: Catalogue, name: str) -> object:
    """One score."""
    return score_attempt(scenario, attempt, catalogue).value(name)


async def test_the_player_sees_the_users_edit_and_not_what_it_left_itself(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    seen: list[Flow | None] = []

    async def idle(request: TurnRequest) -> dict[str, object]:
        seen.append(request.flow)
        return {"flow": None, "text": ""}

    attempt = await play_attempt(WORDING, FunctionPlayer(idle, "idle"), environment)
    assert attempt.harness_error is None
    assert seen == [read_flow(WORDING.canvas or "", catalogue), read_flow(WORDING.turns[1].edit or "", catalogue)]
    assert Case.of(WORDING, attempt, catalogue).before == seen[1]


async def test_an_edit_that_was_never_reached_is_not_what_must_survive(played: Played, catalogue: Catalogue) -> None:
    attempt = played(WORDING, None).model_copy(update={"asked": [0, 0]})
    assert Case.of(WORDING, attempt, catalogue).before == read_flow(WORDING.canvas or "", catalogue)


async def test_undoing_the_users_edit_is_not_preserved(played: Played, catalogue: Catalogue) -> None:
    right, undone = WORDING.reference or "", WORDING.wrong[0].flow or ""
    assert value(WORDING, played(WORDING, right), catalogue, "preserved") is True
    assert value(WORDING, played(WORDING, undone), catalogue, "preserved") is False, "the first message asked for it"


async def test_a_question_after_an_edit_leaves_the_edit_alone(played: Played, catalogue: Catalogue) -> None:
    kept = played(ASKED, ASKED.turns[1].edit)
    assert value(ASKED, kept, catalogue, "preserved") is True
    assert value(ASKED, played(ASKED, ASKED.canvas), catalogue, "preserved") is False


async def test_the_oracle_goes_on_from_the_users_edit(environment: PlayEnvironment, runner: StandInRunner) -> None:
    kim, ada = ran("AHOY KIM, COME ABOARD."), ran("AHOY ADA, COME ABOARD.")
    runner.results = [kim, ada, kim]  # the player's run, the probe, and the run that the harness makes itself
    verdict = score_attempt(WORDING, await play_attempt(WORDING, OraclePlayer(), environment), environment.catalogue)
    short = [one for one in verdict.scores if one.value is not None and float(one.value) < 1]
    assert (verdict.passed, short) == (True, [])


def test_an_edit_after_the_last_message_that_acts_is_refused() -> None:
    document = json.loads(WORDING.model_dump_json())
    document["turns"].append({"say": "Fine?", "should": "answer", "answer": [{"contains": "yes"}], "edit": "nodes:"})
    document["turns"][1]["flow"] = None
    with pytest.raises(ValidationError, match="after the last turn that acts"):
        Scenario.model_validate_json(json.dumps(document))


def noted(flow: str, catalogue: Catalogue, *texts: str) -> Flow:
    """A flow with sticky notes."""
    document = read_flow(flow, catalogue).to_json()
    data = document["data"]
    assert isinstance(data, dict)
    nodes = data["nodes"]
    assert isinstance(nodes, list)
    for number, text in enumerate(texts):
        note = json.loads(json.dumps(NOTE).replace("note-1", f"note-{number}"))
        note["data"]["node"] = {"description": text, "template": {}}
        nodes.append(note)
    return Flow.from_json(document)


@pytest.mark.parametrize(
    ("notes", "kept"),
    [
        (("Ask Kim.", "Twice.", "Twice."), True),
        (("Twice.", "New.", "Ask Kim.", "Twice."), False),
        (("Ask Kim.", "Twice."), False),
        (("Ask Tom.", "Twice.", "Twice."), False),
        ((), False),
    ],
    ids=["as they were", "one more that nobody asked for", "one of two alike gone", "other words", "all gone"],
)
async def test_sticky_notes_must_stay_word_for_word(
    notes: tuple[str, ...], kept: bool, played: Played, catalogue: Catalogue
) -> None:
    canvas = noted(TEMPLATE.canvas or "", catalogue, "Ask Kim.", "Twice.", "Twice.")
    scenario = TEMPLATE.model_copy(update={"canvas": json.dumps(canvas.to_json())})
    after = noted(TEMPLATE.reference or "", catalogue, *notes)
    assert value(scenario, played(scenario, after), catalogue, "preserved") is kept


def called(attempt: Attempt, tool: str, arguments: dict[str, object], *, taken: bool = True) -> Attempt:
    """The attempt with a tool call in its last turn."""
    call = ToolCallPart(tool, arguments, tool_call_id="1")
    reply = ToolReturnPart(tool, "done", tool_call_id="1", outcome="success" if taken else "failed")
    last: TurnResult = attempt.turns[-1].model_copy(
        update={"messages": [ModelResponse(parts=[call]), ModelRequest(parts=[reply])]}
    )
    return attempt.model_copy(update={"turns": [*attempt.turns[:-1], last]})


RIGHT = {"todo.md": TICK.expect.files["todo.md"].equals or ""}


@pytest.mark.parametrize(
    ("tool", "arguments", "taken", "resolved"),
    [
        ("read_file", {"path": "todo.md"}, True, True),
        ("read_file", {"path": "todo.md", "offset": 2}, True, True),
        ("read_file", {"path": "other.md"}, True, False),
        ("read_file", {}, True, False),
        ("read_file", {"path": "todo.md"}, False, False),
        ("write_file", {"path": "todo.md"}, True, False),
    ],
)
async def test_a_tool_that_must_be_used_must_have_been_used_so(
    tool: str, arguments: dict[str, object], taken: bool, resolved: bool, played: Played, catalogue: Catalogue
) -> None:
    attempt = called(played(TICK, None, files=RIGHT), tool, arguments, taken=taken)
    assert value(TICK, attempt, catalogue, "resolved") is resolved


async def test_a_player_that_shows_no_calls_is_not_held_to_tools(played: Played, catalogue: Catalogue) -> None:
    assert value(TICK, played(TICK, None, files=RIGHT), catalogue, "resolved") is True


@pytest.mark.parametrize(
    ("files", "resolved"),
    [
        ({"readme.md": "It says: Welcome on board, {name}!"}, True),
        ({"readme.md": "It says: Welcome, {name}!"}, False),
        ({"other.md": "Welcome on board, {name}!"}, False),
        ({}, False),
    ],
)
async def test_files_must_hold_what_is_expected(
    files: dict[str, str], resolved: bool, played: Played, catalogue: Catalogue
) -> None:
    attempt = played(README, None, files=files)
    assert value(README, attempt, catalogue, "resolved") is resolved
    assert value(README, attempt, catalogue, "built") is None


async def test_what_was_written_is_recorded_as_it_stands_at_the_end(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    attempt = await play_attempt(TICK, OraclePlayer(), environment)
    assert attempt.files == RIGHT
    assert score_attempt(TICK, attempt, catalogue).passed is True
    wrong = await play_attempt(TICK, OraclePlayer(wrong=0), environment)
    assert "book the room" in wrong.files["todo.md"]
    assert score_attempt(TICK, wrong, catalogue).passed is False


def test_an_expected_tool_tells_itself() -> None:
    assert str(ToolUse(tool="read_file", arguments={"path": "a.md"})) == 'read_file(path="a.md")'


async def test_a_right_flow_that_does_not_build_is_the_harness_s_failure(played: Played, catalogue: Catalogue) -> None:
    broken = TEMPLATE.model_copy(update={"alternatives": (TEMPLATE.reference or "", "nodes:\n  a: NoSuchType\n")})
    verdict = score_attempt(broken, played(broken, TEMPLATE.reference), catalogue)
    assert (verdict.passed, {one.value for one in verdict.scores}) == (None, {None})
    assert (verdict.harness_error or "").startswith("alternative 2 does not build: ")
    assert "NoSuchType" in (verdict.harness_error or "")
