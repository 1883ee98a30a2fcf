"""Players: replayed journals, HTTP, callables, and the oracle's way from one flow to another."""

import json
from collections.abc import Mapping
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic_ai import ModelResponse, ToolCallPart
from pydantic_ai.usage import RunUsage
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.assistant import Assistant
from agent.contract.endings import ending, turn_result
from agent.contract.events import CompleteEvent, read_event
from agent.contract.requests import AssistRequest
from agent.turn.request import TurnRequest
from evals.analysis.cost import cost
from evals.attempt import AgentIdentity
from evals.oracles.tool_calls import calls
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.players.function import FunctionPlayer
from evals.players.http import HttpPlayer, authorisation, identity_of
from evals.players.oracle.edits import edit_calls
from evals.players.oracle.player import OraclePlayer
from evals.players.player import Player
from evals.players.registry import UnknownPlayer, player_named
from evals.players.replay import ReplayPlayer
from evals.players.script import ScriptPlayer
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from runtime.keychain.access_token import access_token
from tests.evals.conftest import scenario_named
from tests.server.live import serving
from tests.shared.stand_ins import StandInRunner, ran
from tests.shared.wires import Answering

pytestmark = pytest.mark.anyio

TEMPLATE = scenario_named("edit-template")
ECHO = scenario_named("echo-wired")


async def test_a_replay_gives_what_was_recorded(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    recorded = await play_attempt(TEMPLATE, OraclePlayer(), environment)
    again = await play_attempt(TEMPLATE, ReplayPlayer([recorded]), environment)
    assert again.harness_error is None
    assert again.flow == recorded.flow
    assert [turn.outcome for turn in again.turns] == [turn.outcome for turn in recorded.turns]
    assert [call.arguments for call in calls(again) or []] == [call.arguments for call in calls(recorded) or []]
    values = [[entry.value for entry in score_attempt(TEMPLATE, one, catalogue).scores] for one in (recorded, again)]
    assert values[0] == values[1]


async def test_a_replay_fails_when_the_tools_answer_something_else(
    environment: PlayEnvironment, runner: StandInRunner
) -> None:
    recorded = await play_attempt(TEMPLATE, OraclePlayer(), environment)
    runner.results = [ran("another output")]
    again = await play_attempt(TEMPLATE, ReplayPlayer([recorded]), environment)
    assert "the tools answered differently than recorded" in (again.harness_error or "")


async def test_a_replay_has_only_what_was_recorded_of_the_scenario_as_it_is(environment: PlayEnvironment) -> None:
    recorded = await play_attempt(TEMPLATE, OraclePlayer(), environment)
    player = ReplayPlayer([recorded])
    other = TEMPLATE.model_copy(update={"about": "changed"})
    assert "was not recorded" in ((await play_attempt(other, player, environment)).harness_error or "")
    assert "was not recorded" in ((await play_attempt(TEMPLATE, player, environment, repeat=1)).harness_error or "")
    silent = recorded.model_copy(
        update={"turns": [turn.model_copy(update={"messages": []}) for turn in recorded.turns]}
    )
    assert "without its messages" in (
        (await play_attempt(TEMPLATE, ReplayPlayer([silent]), environment)).harness_error or ""
    )


async def test_a_callable_plays_with_a_flow_and_words(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    async def agent(request: TurnRequest) -> Mapping[str, Any]:
        assert request.text == ECHO.turns[0].say
        return {"flow": read_flow(ECHO.reference or "", catalogue).to_json(), "text": "I built the flow."}

    attempt = await play_attempt(ECHO, FunctionPlayer(agent, "mine"), environment)
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert (attempt.harness_error, attempt.player) == (None, "mine")
    assert (verdict.value("nodes"), verdict.value("edges"), verdict.value("honest")) == (1.0, 1.0, True)
    assert (verdict.value("wasted"), verdict.value("tokens")) == (None, None)


@pytest.mark.parametrize(
    "given", [{"flow": {"nodes": 3}}, {"run": {}}, {"flow": "text"}, {"text": 5}, {"text": "\ud800"}, None, "text"]
)
async def test_a_callable_that_gives_no_flow_has_failed(
    given: Any, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    async def agent(_: TurnRequest) -> Mapping[str, Any]:
        return given

    attempt = await play_attempt(ECHO, FunctionPlayer(agent, "mine"), environment)
    assert attempt.harness_error is None
    assert "finished: a turn failed: the player returned " in score_attempt(ECHO, attempt, catalogue).why


async def test_what_the_server_says_of_a_turn_is_understood(environment: PlayEnvironment) -> None:
    for scenario in (TEMPLATE, ECHO, scenario_named("refuse-weather"), scenario_named("question-value")):
        for turn in (await play_attempt(scenario, DemoPlayer(), environment)).turns:
            request = TurnRequest(text="x", session="s", flow=None if turn.before.is_empty else turn.before)
            sent = read_event(ending(turn, "s").model_dump_json())
            assert isinstance(sent, CompleteEvent)
            heard = turn_result(request, sent)
            assert (heard.outcome, heard.text, heard.intent) == (turn.outcome, turn.text, turn.intent)
            assert (heard.after, heard.proposal) == (turn.after, turn.proposal)
            assert [run.output for run in heard.runs] == [run.output for run in turn.runs[-1:]]
            assert list(heard.approvals) == list(turn.approvals)


@pytest.mark.parametrize(
    ("given", "tokens", "costs"),
    [
        ({"input_tokens": 1200, "output_tokens": 80, "total_tokens": 1280, "cost": 0.0125}, 1280, 0.0125),
        ({"input_tokens": 1200, "output_tokens": 80}, 1280, None),
        ({"cost": 0.5}, 0, 0.5),
        (None, None, None),
    ],
)
async def test_tokens_and_cost_are_those_that_a_server_gives(
    given: dict[str, float] | None, tokens: int | None, costs: float | None, environment: PlayEnvironment
) -> None:
    async def stream(_: Request) -> Response:
        usage = {} if given is None else {"usage": given}
        text = json.dumps({"event": "complete", "data": {"result": "I did nothing.", **usage}})
        return Response(f"data: {text}\n\n", media_type="text/event-stream")

    answering = Answering()
    answering.app = Starlette(routes=[Route("/api/v1/agentic/assist/stream", stream, methods=["POST"])])
    async with answering.serve() as address:
        attempt = await play_attempt(ECHO, HttpPlayer(address), environment)
    assert attempt.harness_error is None
    assert (attempt.tokens, cost(attempt)) == (tokens, costs)


async def test_our_server_gives_the_cost_of_the_models_that_answered_where_it_knows_it(
    environment: PlayEnvironment,
) -> None:
    [turn] = (await play_attempt(ECHO, DemoPlayer(), environment)).turns
    priced = RunUsage(input_tokens=10, output_tokens=2, cost=Decimal("0.25"))
    inside = RunUsage(input_tokens=5, output_tokens=1)
    for usage, costs in (
        ({"main": priced, "intent": priced}, 0.5),
        ({"main": priced, "flow": inside}, 0.25),
        ({"main": priced, "intent": inside}, None),
        ({}, None),
    ):
        sent = ending(turn.model_copy(update={"usage": usage, "messages": []}), "s")
        assert isinstance(sent, CompleteEvent)
        assert sent.data.usage is not None
        assert sent.data.usage.cost == costs
        heard = turn_result(TurnRequest(text="x", session="s"), sent)
        assert sum(float(one.cost or 0) for one in heard.usage.values()) == (costs or 0)


def test_a_request_is_sent_under_the_names_of_the_contract() -> None:
    request = TurnRequest(text="hi", session="s", model="openai:gpt-6.1-sol")
    sent = AssistRequest.of(request).model_dump(mode="json", exclude_none=True)
    assert sent == snapshot(
        {
            "input_value": "hi",
            "session_id": "s",
            "provider": "openai",
            "model_name": "gpt-6.1-sol",
            "approvals": {},
            "tools": [],
            "context": [],
            "tool_results": {},
            "apply": "ask",
            "files": [],
            "keep_canvas": False,
            "dismiss": False,
            "resumable": False,
            "details": False,
        }
    )


async def test_a_server_that_is_not_there_has_failed(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    attempt = await play_attempt(ECHO, HttpPlayer("http://127.0.0.1:9"), environment)
    assert "the request failed (ConnectError)" in score_attempt(ECHO, attempt, catalogue).why


@pytest.mark.parametrize("name", ["demo", "oracle", "script", "null", "boaster"])
def test_a_built_in_player_is_called_by_its_name(name: str) -> None:
    assert player_named(name).name == name


def test_players_are_found_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("", encoding="utf-8")
    assert player_named(f"replay:{tmp_path / 'a.jsonl'}").name == "replay:a.jsonl"
    assert player_named("http:http://localhost:1/").name == "http://localhost:1"
    assert player_named("http://localhost:1").name == "http://localhost:1"
    assert player_named("python:evals.play.attempts:play_attempt").name == "python:evals.play.attempts:play_attempt"


@pytest.mark.parametrize(
    "name", ["", "nobody", "replay:", "openai:gpt", "python:x:y", "python:evals.play.attempts:nothing"]
)
def test_an_unavailable_player_says_what_to_do(name: str) -> None:
    with pytest.raises(UnknownPlayer) as caught:
        player_named(name)
    assert caught.value.message
    assert caught.value.fix


async def test_the_oracle_gives_up_when_no_edit_leads_there(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    unbuildable = TEMPLATE.model_copy(update={"reference": "nodes:\n  a: NoSuchType\n"})
    attempt = await play_attempt(unbuildable, OraclePlayer(), environment)
    assert "the reference flow does not build" in (attempt.harness_error or "")
    canvas = read_flow(TEMPLATE.canvas or "", catalogue)
    assert edit_calls(canvas, canvas, catalogue) == []


async def test_the_oracle_inserts_without_leaving_the_old_connection(catalogue: Catalogue) -> None:
    insert = scenario_named("edit-insert-between")
    made = edit_calls(
        read_flow(insert.canvas or "", catalogue), read_flow(insert.reference or "", catalogue), catalogue
    )
    assert [call.tool for call in made] == snapshot(
        [
            "disconnect_components",
            "add_component",
            "connect_components",
            "connect_components",
        ]
    )


async def test_a_live_server_is_played_over_http(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    assistant = Assistant(environment.settings, environment.runner, catalogue=catalogue)
    async with serving(assistant) as live:
        player = HttpPlayer(str(live.client.base_url))
        attempt = await play_attempt(ECHO, player, environment)
        refused = await play_attempt(scenario_named("refuse-weather"), player, environment)
    assert (attempt.harness_error, refused.harness_error) == (None, None)
    assert attempt.agent == AgentIdentity(name="wirewright", version=metadata.version("wirewright"))
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert (verdict.value("built"), verdict.value("nodes"), verdict.value("wasted")) == (True, 1.0, None)
    assert score_attempt(scenario_named("refuse-weather"), refused, catalogue).passed is True


@pytest.mark.parametrize(
    ("header", "name", "version"), [("mine/1.2", "mine", "1.2"), ("mine", "mine", ""), (" a b / 2/3 ", "a b", "2/3")]
)
def test_a_server_names_its_agent_in_a_header(header: str, name: str, version: str) -> None:
    assert identity_of(header) == AgentIdentity(name=name, version=version)


@pytest.mark.parametrize("header", ["", " ", "/1.2"])
def test_a_server_that_names_no_agent_has_none(header: str) -> None:
    assert identity_of(header) is None


def test_the_token_of_this_installation_goes_to_this_machine_only(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert authorisation("http://127.0.0.1:7878/x") == {}, "there is none yet"
    mine = {"Authorization": f"Bearer {access_token(data_folder)}"}
    for url in ("http://127.0.0.1:7878/x", "http://localhost/x", "http://[::1]:1/x"):
        assert authorisation(url) == mine
    for url in (
        "http://example.com/x",
        "http://127.0.0.1.example.com/x",
        "http://10.0.0.1/x",
        "http://u@example.com/x",
    ):
        assert authorisation(url) == {}
    monkeypatch.setenv("WIREWRIGHT_TOKEN", "e" * 40)
    assert authorisation("https://assistant.example.com/x") == {"Authorization": f"Bearer {'e' * 40}"}


async def test_the_files_of_a_scenario_are_there_for_its_user(environment: PlayEnvironment) -> None:
    from runtime.files.store import UserFiles

    seen: list[str] = []

    async def agent(request: TurnRequest) -> Mapping[str, Any]:
        seen.append(UserFiles(environment.settings.data, request.user).read("notes/a.txt"))
        return {"text": "read"}

    scenario = ECHO.model_copy(update={"files": {"notes/a.txt": "hello"}})
    assert (await play_attempt(scenario, FunctionPlayer(agent, "mine"), environment)).harness_error is None
    assert seen == ["hello"]
    escaping = ECHO.model_copy(update={"files": {"../a.txt": "x"}})
    assert "cannot be written" in (
        (await play_attempt(escaping, FunctionPlayer(agent, "mine"), environment)).harness_error or ""
    )


@pytest.mark.parametrize(
    ("player", "scenario"),
    [(OraclePlayer(), "two-requests"), (ScriptPlayer(), "plan-refined")],
    ids=["oracle", "script"],
)
async def test_no_tool_call_id_repeats_in_a_conversation(
    environment: PlayEnvironment, player: Player, scenario: str
) -> None:
    attempt = await play_attempt(scenario_named(scenario), player, environment)
    assert attempt.harness_error is None
    ids = [
        {
            part.tool_call_id
            for message in turn.messages
            for part in message.parts
            if isinstance(message, ModelResponse) and isinstance(part, ToolCallPart)
        }
        for turn in attempt.turns
    ]
    assert all(ids)
    assert ids[-1].isdisjoint(set[str]().union(*ids[:-1]))
