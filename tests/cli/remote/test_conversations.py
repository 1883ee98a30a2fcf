"""`wirewright conversations`: the same on this machine and on a server."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Wirewright
from tests.cli.remote.conftest import Serve

Run = Callable[..., Done]


@pytest.fixture(params=["here", "server"])
def talked(request: pytest.FixtureRequest, wirewright: Wirewright) -> Run:
    """Runs commands where two things were asked in a conversation, and one in another."""
    if request.param == "here":
        request.getfixturevalue("runner")
        run: Run = wirewright
        model: tuple[str, ...] = ("--model", "demo")
    else:
        remote = request.getfixturevalue("serve")("question", "A.", "question", "B.", "question", "C.")
        run, model = remote.run, ()
    for text, session in (
        ("What does the Chat Input do?", "monday"),
        ("What does the Chat Output do?", "monday"),
        ("What does the Prompt Template do?", "tuesday"),
    ):
        assert run("ask", text, "--session", session, *model).code == 0
    return run


def test_they_are_listed_shown_and_renamed(talked: Run) -> None:
    listed = talked("conversations", "list", "--json").json
    assert [(one["id"], one["messages"]) for one in listed["conversations"]] == [("tuesday", 1), ("monday", 2)]
    assert [one["id"] for one in talked("conversations", "list", "PROMPT", "--json").json["conversations"]] == [
        "tuesday"
    ]
    shown = talked("conversations", "show", "mon")
    assert "1 > What does the Chat Input do?" in shown.out
    assert "2 > What does the Chat Output do?" in shown.out
    messages = talked("conversations", "show", "last", "--json").json["messages"]
    assert [one["parts"][0]["text"] for one in messages] == ["What does the Prompt Template do?"]
    assert talked("conversations", "rename", "monday", "  The  inputs ", "--json").json["title"] == "The inputs"
    assert "The inputs" in talked("conversations", "list").out


def test_messages_are_taken_back_and_conversations_removed(talked: Run) -> None:
    done = talked("conversations", "rewind", "monday", "2", "--json").json
    assert (done["removed"], done["conversation"]["messages"], done["flow"]) == (1, 1, None)
    assert done["message"]["parts"][0]["text"] == "What does the Chat Output do?"
    assert talked("conversations", "remove", "monday", "tue", "--json").json == {"removed": 2}
    assert talked("conversations", "list", "--json").json == {"conversations": [], "total": 0}


def test_what_is_not_there_is_said_and_nothing_is_changed(talked: Run) -> None:
    for arguments, code in (
        (("show", "nope"), "conversation_not_found"),
        (("rewind", "monday", "7"), "message_not_found"),
        (("remove", "monday", "nope"), "conversation_not_found"),
        (("rename", "monday", " "), "bad_value"),
    ):
        refused = talked("conversations", *arguments, "--json")
        assert refused.json["error"]["code"] == code
    assert talked("conversations", "list", "--json").json["total"] == 2


def test_a_stored_flow_is_put_back_by_a_server_alone(talked: Run, serve: Serve, tmp_path: Path) -> None:
    refused = talked("conversations", "rewind", "monday", "1", "--with-flow", "--json")
    assert refused.json["error"]["code"] in ("server_needed", "no_stored_flow")
