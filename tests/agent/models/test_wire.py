"""Turns over a real wire format, replayed from cassettes with no server behind them."""

import json
import re
from pathlib import Path

import pytest

from agent.turn.result import TurnResult
from scripts.cassettes import FOLDER, WIRES, approved, cassettes, digest, played, wire_of
from scripts.conversations import CONVERSATIONS
from tests.shared.yaml_files import read_yaml
from tools.approvals import EditApproval

pytestmark = [pytest.mark.anyio, pytest.mark.engine, pytest.mark.usefixtures("wire")]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch, warm_engine: None) -> None:
    """Real model clients may be made here; what they send is answered from a cassette or not at all."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    for variable in {variable for wire in WIRES.values() for variable in wire.environment}:
        monkeypatch.setenv(variable, "")


async def replay(name: str) -> tuple[TurnResult, int]:
    """Play a turn against a cassette; returns its result and how many requests were made."""
    with cassettes().use_cassette(f"{name}.yaml") as cassette:
        result = await played(wire=wire_of(name))
        assert cassette.all_played
        return result, int(cassette.play_count)


@pytest.mark.parity(
    "ADR-016", "ADR-MCP-030", "term-single-agent-loop", "base-term-flow-executor", "term-flow-builder-assistant"
)
@pytest.mark.parametrize("wire_name", WIRES)
async def test_a_whole_build_and_run_turn_replays_over_every_wire(wire_name: str) -> None:
    result, requests = await replay(f"{wire_name}_build_and_run")
    assert requests == 6
    assert result.outcome == "complete", result.error
    assert result.runs[-1].output == "Say it louder: hello"
    assert [node.type for node in result.after.nodes] == ["ChatInput", "Prompt Template", "ChatOutput"]
    assert result.usage["intent"].requests == 1
    assert result.usage["main"].requests == 5
    assert result.usage["main"].input_tokens == 500
    assert result.models == [WIRES[wire_name].model.partition(":")[2]]


@pytest.mark.parametrize("wire_name", WIRES)
async def test_the_answers_of_every_wire_are_streamed_with_their_tool_calls(wire_name: str) -> None:
    streamed = [
        interaction
        for interaction in read_yaml(FOLDER / f"{wire_name}_build_and_run.yaml")["interactions"]
        if interaction["response"]["headers"]["content-type"][0].startswith("text/event-stream")
    ]
    assert len(streamed) == 5
    assert any("build_flow" in str(interaction["response"]["body"]) for interaction in streamed)


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if "_model_not_found_" in name])
@pytest.mark.parity("base-scenario-model-fallback", "base-smoke-forced-fallback")
async def test_an_unavailable_model_makes_the_chain_fall_back(name: str) -> None:
    result, requests = await replay(name)
    assert requests == 2
    assert (result.outcome, result.intent) == ("refused", "off_topic")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("openai_chat_refused_401", "auth"),
        ("openai_chat_limited_429", "rate_limit"),
        ("openai_responses_refused_401", "auth"),
        ("anthropic_refused_401", "auth"),
        ("google_refused_400", "auth"),
    ],
)
async def test_a_refused_key_and_a_rate_limit_end_the_turn_and_say_so(name: str, code: str) -> None:
    result, requests = await replay(name)
    assert requests == 1
    assert result.error is not None
    assert result.error.code == code


def cassette_files() -> list[Path]:
    """Every wire cassette."""
    return sorted(FOLDER.glob("*.yaml"))


def test_every_conversation_has_its_cassette_and_none_is_stale() -> None:
    assert {path.stem for path in cassette_files()} == set(CONVERSATIONS)
    stale = [path.stem for path in cassette_files() if read_yaml(path)["metadata"]["script"] != digest(path.stem)]
    assert stale == []


def test_every_cassette_says_where_it_comes_from() -> None:
    for path in cassette_files():
        metadata = read_yaml(path)["metadata"]
        assert "scripted provider" in metadata["source"]
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(metadata["recorded"]))


def test_no_cassette_holds_a_secret() -> None:
    secret = re.compile(r"sk-[A-Za-z0-9]|bearer\s|api[-_]key\W+\w{8}", re.IGNORECASE)
    for path in cassette_files():
        content = read_yaml(path)
        assert not secret.search(json.dumps(content["interactions"])), path.name
        headers = {name.lower() for entry in content["interactions"] for name in entry["request"]["headers"]}
        assert headers & {"authorization", "x-api-key", "cookie"} == set()


@pytest.mark.parity("base-scenario-edit-approval-continues")
async def test_a_turn_with_an_approval_replays_to_the_question_and_to_its_end() -> None:
    with cassettes().use_cassette("openai_chat_approval.yaml") as cassette:
        waiting, done = await approved()
        assert cassette.all_played
    [(call, question)] = waiting.approvals.items()
    assert (waiting.outcome, waiting.actions, waiting.text) == ("pending", [], "I will reword the prompt.")
    assert isinstance(question, EditApproval)
    assert (question.edit.old, question.edit.new) == ("Say it louder: {text}", "Whisper: {text}")
    assert call == "call_2_0", "the id is the one that came over the wire"
    assert (done.outcome, done.text) == ("complete", "The prompt now whispers.")
    assert [action.kind for action in done.actions] == ["configure"]
    assert done.after.node(question.edit.node).value("template") == "Whisper: {text}"
    sent = read_yaml(FOLDER / "openai_chat_approval.yaml")["interactions"]
    assert len(sent) == 3, "an answer is not classified"
    last = json.loads(sent[-1]["request"]["body"])["messages"][-1]
    assert (last["role"], last["tool_call_id"]) == ("tool", call)
