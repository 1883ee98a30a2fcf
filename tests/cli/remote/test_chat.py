"""`wirewright chat --server`: a conversation on a server, with its stored flows, questions, files and commands."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from pydantic_ai import ToolCallPart

from agent.models.scripted import call
from agent.turn.request import TurnRequest
from cli.chat.partners.remote import ServerTurn
from flows.document import Flow, JsonObject
from tests.cli.remote.conftest import Remote, Serve
from tests.cli.remote.test_ask import Cut
from tests.shared.flow_texts import ECHO

QUESTION = "What is a flow?"
ANSWER = "A flow is a graph of components, which pass on what they made."


def named(echo: JsonObject, path: Path, name: str = "Echo") -> Path:
    """A file with the flow under a name."""
    path.write_text(json.dumps({**echo, "name": name}))
    return path


def node_of(echo: JsonObject, kind: str) -> str:
    return next(node.id for node in Flow.from_json(echo).nodes if node.type == kind)


def rename(echo: JsonObject, to: str) -> ToolCallPart:
    """A change of the output's name."""
    return ToolCallPart("edit_flow", {"changes": f"names:\n  {node_of(echo, 'ChatOutput')}: {to}"})


def flows(remote: Remote) -> list[JsonObject]:
    return remote.run("flow", "list", "--json").json["flows"]


def test_turns_of_a_conversation_are_taken_on_the_server(serve: Serve) -> None:
    remote = serve("question", ANSWER, "question", "It goes on.")
    done = remote.run("chat", stdin=f"{QUESTION}\nAnd then?\n".encode())
    assert (done.code, done.out) == (0, f"{ANSWER}\nIt goes on.\n"), done
    assert QUESTION in str(remote.model.requests[-1]), "the second message is one of the same conversation"
    assert remote.alone("chat", "--list", "--json").json["conversations"] == []
    listed = remote.run("chat", "--list", "--json").json["conversations"]
    assert [(one["title"], one["turns"]) for one in listed] == [(QUESTION, 2)]


def test_json_lines_are_those_of_this_machine(serve: Serve) -> None:
    remote = serve("question", ANSWER)
    lines = remote.run("chat", "--json", stdin=f"{QUESTION}\n/show\n".encode()).lines
    assert [line["event"] for line in lines][-2:] == ["complete", "canvas"]
    assert "".join(line["chunk"] for line in lines if line["event"] == "token") == ANSWER
    assert not any(line.keys() & {"turn_id", "sequence"} for line in lines)


def test_a_stored_flow_is_worked_on_and_stored_after_each_turn(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve("build_flow", rename(echo, "Reply"), "Renamed.", "build_flow", rename(echo, "Answer"), "Again.")
    remote.run("flow", "import", named(echo, tmp_path / "echo.json"))
    kept = tmp_path / "kept.json"
    done = remote.run("chat", "--flow", "Echo", "--out", kept, stdin=b"Call it Reply\nNo, Answer\n/show\n")
    assert done.code == 0, done
    assert [one["version"] for one in flows(remote)] == [3]
    assert '"Answer"' in kept.read_text()


def test_a_flow_that_others_change_meanwhile_is_followed(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = named(json.loads(json.dumps(echo).replace("Chat Input", "Their Input")), tmp_path / "other.json")
    remote = serve("build_flow", rename(echo, "Reply"), "Renamed.")
    remote.run("flow", "import", named(echo, tmp_path / "echo.json"))

    async def meanwhile(self: ServerTurn) -> TurnRequest:
        assert (await asyncio.to_thread(remote.run, "flow", "import", other, "--replace", "Echo")).code == 0
        return await as_stored(self)

    as_stored = vars(ServerTurn)["_as_stored"]
    monkeypatch.setattr(ServerTurn, "_as_stored", meanwhile)
    done = remote.run("chat", "--flow", "Echo", "--out", tmp_path / "kept.json", stdin=b"Call it Reply\n")
    assert done.code == 0, done
    kept = (tmp_path / "kept.json").read_text()
    assert ("Their Input" in kept, '"Reply"' in kept) == (True, True)
    assert "Their Input" not in done.err, "what others have changed is not shown as a change of this turn"


def test_a_canvas_of_ones_own_is_stored_by_a_command_and_from_then_on(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = serve("build_flow", rename(echo, "Reply"), "Renamed.")
    talk = b"/store Mine\nCall it Reply\n"
    done = remote.run("chat", "--flow", named(echo, tmp_path / "echo.json"), stdin=talk)
    assert done.code == 0, done
    assert [(one["name"], one["version"]) for one in flows(remote)] == [("Mine", 2)]
    assert "The flow is stored as “Mine”" in done.err


def test_stored_flows_and_files_are_loaded_by_a_command_and_undo_leads_back(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = serve("build_flow", rename(echo, "Reply"), "Renamed.")
    remote.run("flow", "import", named(echo, tmp_path / "echo.json"))
    remote.run("flow", "import", named(echo, tmp_path / "other.json", "Other"))
    talk = b"/flow Other\n/undo\n/flow nope\nCall it Reply\n"
    done = remote.run("chat", "--flow", "Echo", stdin=talk)
    assert {one["name"]: one["version"] for one in flows(remote)} == {"Echo": 2, "Other": 1}
    assert "Other” is on the canvas (2 nodes). Changes are stored on the server. /undo puts back" in done.err
    assert "There is no flow 'nope'" in done.err


PLAN = call("propose_plan", 1, markdown="# A plan\n\n1. Add an input.")


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_question_is_asked_and_answered(serve: Serve, echo: JsonObject, tmp_path: Path, option: tuple[str]) -> None:
    remote = serve("build_flow", PLAN, rename(echo, "Reply"), "Done.")
    remote.run("flow", "import", named(echo, tmp_path / "echo.json"))
    done = remote.run("chat", "--flow", "Echo", *option, stdin=b"Change it\ny\n")
    assert done.code == 0, done
    assert "1. Add an input." in done.err
    assert flows(remote)[0]["version"] == 2


def test_a_question_that_the_input_leaves_waits_and_is_asked_again_when_gone_on_with(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = serve("build_flow", PLAN, rename(echo, "Reply"), "Done.")
    remote.run("flow", "import", named(echo, tmp_path / "echo.json"))
    left = remote.run("chat", "--flow", "Echo", stdin=b"Change it\n")
    assert left.code == 3
    [again] = [line.removeprefix("Go on with: wirewright ") for line in left.err.splitlines() if "--resume" in line]
    assert again.endswith(f"--server {remote.url}")
    assert remote.run("chat", "--list", "--json").json["conversations"][0]["waiting"] is True
    done = remote.alone(*again.split(), stdin=b"y\n")
    assert done.code == 0, done
    assert "Going on with “Change it” (1 turn)." in done.err
    assert "1. Add an input." in done.err
    assert flows(remote)[0]["version"] == 2


def test_a_flow_that_is_offered_is_accepted_and_its_canvas_is_there_when_gone_on_with(serve: Serve) -> None:
    remote = serve("build_flow", call("build_flow", 1, spec=ECHO), "Here it is.")
    done = remote.run("chat", stdin=b"Build an echo flow\ny\n")
    assert done.code == 0, done
    assert flows(remote) == [], "the canvas is the conversation's own"
    assert "2 > (approved)" in remote.run("conversations", "show", "last").out
    shown = remote.run("chat", "--resume", "--json", stdin=b"/show\n")
    assert len(shown.lines[-1]["flow"]["data"]["nodes"]) == 2, shown


def test_files_models_and_deleting_the_conversation(serve: Serve, tmp_path: Path) -> None:
    remote = serve("question", "At nine.")
    (tmp_path / "hours.txt").write_text("Open from nine")
    talk = f"/file {tmp_path / 'hours.txt'}\nWhen is it open?\n/model\n/model nobody:x\n/forget\n/nope\n/file\n"
    done = remote.run("chat", stdin=talk.encode())
    assert (done.code, done.out) == (0, "At nine.\n")
    assert "hours.txt (14 bytes)" in str(remote.model.requests[-1])
    assert remote.run("files", "list", "--json").json["files"] == [{"path": "hours.txt", "size": 14}]
    for said in ("The model is demo", "The server has no provider 'nobody'", "Unknown command: /nope", "/file needs"):
        assert said in done.err
    assert remote.run("chat", "--list", "--json").json["conversations"] == []


def test_what_cannot_be_done_ends_the_turn_and_not_the_conversation(serve: Serve) -> None:
    remote = serve("question", ANSWER)
    refused = remote.run("chat", "--model", "nobody:x", "--json", stdin=b"Hello\n")
    assert (refused.code, refused.json["error"]["code"]) == (1, "provider_not_configured")
    long = f"{'x' * 300_000}\n{QUESTION}\n"
    done = remote.run("chat", stdin=long.encode())
    assert (done.code, done.out) == (0, f"{ANSWER}\n"), done.err
    assert "Error: The message has more than" in done.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--components", "."), "not_remote"),
        (("--resume",), "no_conversation"),
        (("--resume", "nope"), "unknown_conversation"),
        (("--flow", "nope"), "flow_not_found"),
        (("--flow", "-"), "usage"),
    ],
)
def test_what_cannot_begin_says_why(serve: Serve, arguments: tuple[str, ...], code: str) -> None:
    refused = serve().run("chat", *arguments, "--json")
    assert refused.code in (1, 2)
    assert refused.json["error"]["code"] == code


def test_a_turn_goes_on_after_its_connection_was_lost(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = serve("question", ANSWER * 20, "question", "Still here.")
    monkeypatch.setattr("cli.remote.turns.WAITS", (0.0, 0.0, 0.0))
    sent: list[str] = []
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def lossy(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        response = await handle(self, request)
        if len(sent) < 3:
            response.stream = Cut(response.stream, 2)
        return response

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", lossy)
    done = remote.run("chat", stdin=f"{QUESTION}\nAre you there?\n".encode())
    assert (done.code, done.out) == (0, f"{ANSWER * 20}\nStill here.\n"), done.err
    assert sent[:2] == ["POST", "GET"]  # on a busy machine the turn may end before it is followed again
