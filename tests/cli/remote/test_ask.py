"""`wirewright ask --server`: a turn on a server, shown as a turn of this machine, resumed and stopped."""

import json
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic_ai import ToolCallPart

from agent.contract.events import read_event
from cli.errors import INTERRUPTED
from cli.remote.canvas import RemoteCanvas
from flows.document import Flow, JsonObject
from tests.cli.remote.conftest import Serve

QUESTION = "What is a flow?"
ANSWER = "A flow is a graph of components, which pass on what they made."


def test_a_question_is_answered_as_on_this_machine(serve: Serve) -> None:
    remote = serve("question", ANSWER)
    done = remote.run("ask", QUESTION)
    assert (done.code, done.out) == (0, f"{ANSWER}\n")


def test_json_lines_are_the_events_without_their_numbers(serve: Serve) -> None:
    remote = serve("question", ANSWER)
    lines = remote.run("ask", QUESTION, "--json").lines
    assert lines[0]["event"] == "progress"
    assert "".join(line["chunk"] for line in lines if line["event"] == "token") == ANSWER
    assert lines[-1]["event"] == "complete"
    assert lines[-1]["data"]["result"] == ANSWER
    assert not any(line.keys() & {"turn_id", "sequence"} for line in lines)


def test_a_stored_flow_is_changed_by_its_name_and_stored_again(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    node = next(node.id for node in Flow.from_json(echo).nodes if node.type == "ChatOutput")
    call = ToolCallPart("edit_flow", {"changes": f"names:\n  {node}: Reply"})
    remote = serve("build_flow", call, "Renamed.")
    path = tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    done = remote.run("ask", "Call the output Reply", "--flow", "Echo", "--out", tmp_path / "out.json")
    assert (done.code, done.out) == (0, "Renamed.\n"), done
    assert f"~ {node}" in done.err
    assert "The changes are stored as version 2 of Echo." in done.err
    assert remote.run("flow", "list", "--json").json["flows"][0]["version"] == 2
    assert "Reply" in (tmp_path / "out.json").read_text()


def test_a_flow_that_is_written_to_a_file_is_said_to_be_there_and_nowhere_else(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    node = next(node.id for node in Flow.from_json(echo).nodes if node.type == "ChatOutput")
    call = ToolCallPart("edit_flow", {"changes": f"names:\n  {node}: Reply"})
    remote = serve("build_flow", call, "Renamed.", "build_flow", call, "Renamed.")
    source, out = tmp_path / "echo.json", tmp_path / "out.json"
    source.write_text(json.dumps(echo))
    done = remote.run("ask", "Call the output Reply", "--flow", "-", "--out", out, stdin=source.read_bytes())
    said = " ".join(done.err.split())
    assert (done.code, said.count(str(out)), "not kept" in said) == (0, 1, False), said
    assert "Reply" in out.read_text()
    quiet = remote.run("ask", "Call the output Reply", "--flow", "-", stdin=source.read_bytes())
    assert "not kept" in " ".join(quiet.err.split())


def test_a_file_of_this_machine_is_sent_along(serve: Serve, tmp_path: Path) -> None:
    remote = serve("question", ANSWER)
    (tmp_path / "hours.txt").write_text("nine")
    assert remote.run("ask", QUESTION, "--file", tmp_path / "hours.txt").code == 0
    assert remote.run("files", "list", "--json").json["files"] == [{"path": "hours.txt", "size": 4}]


def test_spec_text_and_components_stay_on_this_machine(serve: Serve, tmp_path: Path) -> None:
    remote = serve()
    (tmp_path / "echo.flow").write_text("flow Echo")
    done = remote.run("ask", "Run it", "--flow", tmp_path / "echo.flow", "--json")
    assert (done.code, done.json["error"]["code"], done.json["error"]["where"]) == (2, "not_remote", "--flow")
    done = remote.run("ask", "Run it", "--components", tmp_path, "--json")
    assert (done.code, done.json["error"]["where"]) == (2, "--components")


class Cut(httpx.AsyncByteStream):
    """A response that is lost after some bytes."""

    def __init__(self, stream: Any, after: int) -> None:
        self._stream, self._left = stream, after

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= 1
            if self._left < 0:
                raise httpx.ReadError("lost")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_turn_goes_on_after_its_connection_was_lost(
    after: int, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve("question", ANSWER * 20)
    monkeypatch.setattr("cli.remote.turns.WAITS", (0.0, 0.0, 0.0))
    sent: list[str] = []
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def lossy(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        response = await handle(self, request)
        if len(sent) < 3:
            response.stream = Cut(response.stream, after)
        return response

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", lossy)
    done = remote.run("ask", QUESTION, "--json")
    assert done.code == 0, done
    assert "".join(line["chunk"] for line in done.lines if line["event"] == "token") == ANSWER * 20
    assert [line["event"] for line in done.lines].count("complete") == 1
    assert len(sent) >= 2


def test_ctrl_c_stops_the_turn_on_the_server(serve: Serve) -> None:
    remote = serve("question", ANSWER, blocks_at=1)

    def interrupt() -> None:
        if soon(remote.model.blocked.is_set):
            signal.raise_signal(signal.SIGINT)

    stopper = threading.Thread(target=interrupt)
    stopper.start()
    done = remote.run("ask", QUESTION, "--json")
    stopper.join()
    assert done.code == INTERRUPTED
    assert done.lines[-1]["event"] == "cancelled"
    assert soon(remote.model.cancelled.is_set)


def soon(what: Callable[[], bool]) -> bool:
    """Whether something happens within ten seconds."""
    deadline = time.monotonic() + 10
    while not what() and time.monotonic() < deadline:
        time.sleep(0.02)
    return what()


class Rewinding(httpx.AsyncByteStream):
    """A response whose first event says that another process goes on with the turn."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'data: {"event": "rewound", "to": 0, "flow": {"data": {"nodes": [], "edges": []}}}\n\n'
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_a_turn_that_goes_on_elsewhere_says_what_may_happen_twice(
    command: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve("question", ANSWER)
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def rewinding(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        response = await handle(self, request)
        if request.url.path.endswith("/stream"):
            response.stream = Rewinding(response.stream)
        return response

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", rewinding)
    done = remote.run(command, QUESTION) if command == "ask" else remote.run(command, stdin=f"{QUESTION}\n".encode())
    assert done.code == 0, done
    said = " ".join(done.err.split())
    assert said.count("The turn goes on in another process, from its last finished step.") == 1
    assert "may be done twice" in said
    assert ANSWER in " ".join(done.out.split())


def test_steps_that_are_told_again_are_told_from_the_canvas_before_them(echo: JsonObject) -> None:
    canvas = RemoteCanvas(Flow.from_json(echo))
    rewound = read_event(json.dumps({"event": "rewound", "to": 0, "flow": Flow.empty().to_json()}))
    assert rewound is not None
    assert canvas.shown(rewound) == []
    assert not canvas.flow.nodes
