"""Conversations of `chat` are kept: listed, and gone on with."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright

pytestmark = pytest.mark.usefixtures("runner")
QUESTION = b"What does the Chat Input do?\n"


def conversations(wirewright: Wirewright) -> list[dict[str, object]]:
    done = wirewright("chat", "--list", "--json")
    assert done.code == 0
    return done.json["conversations"]


def test_conversations_are_listed_last_used_first(wirewright: Wirewright) -> None:
    assert conversations(wirewright) == []
    assert "There are no conversations yet" in wirewright("chat", "--list").err
    for text in (QUESTION, b"What does the Chat Output do?\nundo\n"):
        assert wirewright("chat", "--model", "demo", stdin=text).code == 0
    second, first = conversations(wirewright)
    assert [first["title"], second["title"]] == ["What does the Chat Input do?", "What does the Chat Output do?"]
    assert [first["turns"], second["turns"], first["waiting"]] == [1, 2, False]
    listed = wirewright("chat", "--list")
    line = listed.out.splitlines()[0]
    assert str(second["id"]).startswith(line.split()[0])
    assert line.endswith("What does the Chat Output do?")
    assert str(second["updated_at"])[:10] in line


def test_a_conversation_is_gone_on_with_by_the_beginning_of_its_id(wirewright: Wirewright) -> None:
    for text in (QUESTION, b"What does the Chat Output do?\n"):
        wirewright("chat", "--model", "demo", stdin=text)
    _, first = conversations(wirewright)
    short = str(first["id"])[:20]
    done = wirewright("chat", "--resume", short, "--model", "demo", stdin=b"What does the Prompt Template do?\n")
    assert done.code == 0
    assert "Going on with “What does the Chat Input do?” (1 turn)." in done.err
    again = conversations(wirewright)
    assert (again[0]["id"], again[0]["turns"]) == (first["id"], 2)
    assert len(again) == 2


def test_the_last_conversation_is_gone_on_with_and_has_its_canvas(wirewright: Wirewright, louder_json: Path) -> None:
    wirewright("chat", "--model", "demo", "--flow", louder_json, stdin=QUESTION)
    done = wirewright("chat", "--resume", "--model", "demo", "--json", stdin=b"/show\n")
    assert done.code == 0
    shown = next(line for line in done.lines if line["event"] == "canvas")
    assert shown["flow"] == json.loads(louder_json.read_text())


def test_what_waits_is_asked_again_when_a_conversation_is_gone_on_with(
    wirewright: Wirewright, louder_json: Path, tmp_path: Path
) -> None:
    asked = wirewright(
        "ask",
        "Change the prompt to 'Whisper it: {text}'",
        "--flow",
        louder_json,
        "--session",
        "quiet",
        "--model",
        "demo",
    )
    assert asked.code == 3, asked.err
    assert [one["waiting"] for one in conversations(wirewright)] == [True]
    target = tmp_path / "out.json"
    done = wirewright("chat", "--resume", "quiet", "--model", "demo", "--out", target, stdin=b"y\n")
    assert done.code == 0, done.err
    assert "+ Whisper it: {text}" in done.err
    assert "Whisper it: {text}" in target.read_text()


def test_a_proposal_that_waits_is_offered_again(wirewright: Wirewright, tmp_path: Path) -> None:
    asked = wirewright("ask", "Build an echo flow", "--session", "echo", "--model", "demo")
    assert asked.code == 0, asked.err
    target = tmp_path / "out.json"
    done = wirewright("chat", "--resume", "--model", "demo", "--out", target, stdin=b"y\n")
    assert done.code == 0, done.err
    assert len(json.loads(target.read_text())["data"]["nodes"]) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "fix"),
    [
        (("--resume",), "no_conversation", "Begin one with: wirewright chat"),
        (("--resume", "nope"), "unknown_conversation", "wirewright chat --list shows them."),
        (("nope",), "usage", "Write: wirewright chat --resume ID"),
        (("--list", "--resume"), "usage", "Choose one."),
    ],
)
def test_a_conversation_that_is_not_there_is_bad_usage(
    wirewright: Wirewright, arguments: tuple[str, ...], code: str, fix: str
) -> None:
    done = wirewright("chat", *arguments, "--model", "demo", "--json")
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["fix"]) == (code, fix)


def test_an_id_that_fits_two_conversations_is_refused(wirewright: Wirewright) -> None:
    for _ in range(2):
        wirewright("chat", "--model", "demo", stdin=QUESTION)
    done = wirewright("chat", "--resume", "cli-", "--json")
    assert (done.code, done.json["error"]["message"]) == (2, "'cli-' fits 2 conversations.")


def test_nothing_is_kept_when_conversations_are_to_stay_in_the_process(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "process")
    wirewright("chat", "--model", "demo", stdin=QUESTION)
    assert conversations(wirewright) == []


def test_a_conversation_that_was_forgotten_is_not_listed(wirewright: Wirewright) -> None:
    wirewright("chat", "--model", "demo", stdin=QUESTION + b"/forget\n")
    assert conversations(wirewright) == []
