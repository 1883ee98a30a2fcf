"""What a short run does not do: wake threads, watch its socket anew, or copy messages that nobody hears."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from flows.document import SHORT, Flow, JsonObject
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.run_events import NodeToken, RunEvent
from runtime.runner import Runner
from tests.runtime.unguarded import unguarded_events

MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]


@pytest.mark.parametrize(
    ("given", "threads"),
    [
        ({}, set[str]()),
        ({"text": "x" * SHORT}, {"request_for_process"}),
        ({"tweaks": {"ChatOutput-b": {"sender_name": "B"}}}, {"prepare_run", "request_for_process"}),
        ({"code": "one's own"}, {"prepare_run", "request_for_process"}),
        ({"note": "x" * SHORT}, {"prepare_run", "request_for_process"}),
    ],
)
async def test_a_short_run_of_the_catalogues_code_wakes_no_thread(
    runner: Runner, echo: Flow, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], threads: set[str]
) -> None:
    to_thread, woken = asyncio.to_thread, list[str]()

    async def noted(work: Callable[..., Any], *args: Any) -> Any:
        woken.append(getattr(work, "__name__", ""))
        return await to_thread(work, *args)

    document = echo.to_json()
    if "code" in given:
        [node, *_] = as_list(as_object(document["data"])["nodes"])
        code = object_at(as_object(node), "data", "node", "template", "code")
        code["value"] = f"{as_text(code['value'])}\n# {given['code']}\n"
    document["note"] = given.get("note", "")
    monkeypatch.setattr(asyncio, "to_thread", noted)
    result = await runner.run(Flow.from_json(document), given.get("text", "hi"), tweaks=given.get("tweaks"))
    assert result.error is None
    assert {"prepare_run", "request_for_process"} & set(woken) == threads


async def test_a_runs_socket_is_watched_once_however_many_events_come(
    runner: Runner, echo: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, watched = asyncio.get_running_loop(), list[object]()
    add_reader = loop.add_reader

    def noted(descriptor: Any, callback: Callable[..., object], *args: Any) -> None:
        watched.append(descriptor)
        add_reader(descriptor, callback, *args)

    monkeypatch.setattr(loop, "add_reader", noted)
    events: list[RunEvent] = []
    result = await runner.run(echo, "hi", on_event=events.append)
    assert (result.output, len(events)) == ("hi", 4)
    assert len([one for one in watched if isinstance(one, socket.socket)]) == 1


def awaiting(data: JsonObject) -> JsonObject:
    """The same component with a method that lfx awaits, and does not call in a thread."""
    [node] = as_list(data["nodes"])
    code = object_at(as_object(node), "data", "node", "template", "code")
    code["value"] = as_text(code["value"]).replace("def build_output", "async def build_output")
    return data


COUNT_THREADS = """import threading
self._event_manager.on_token(data={"chunk": "x", "id": "m"})
message = Message(text="from a component", sender="Machine", sender_name="AI", session_id="s")
await self._send_message_event(message)
async def pieces():
    for piece in ("one ", "two"):
        yield type("Chunk", (), {"content": piece})()
text, _ = await self._stream_message(pieces(), Message(id="m", text=""))
return Data(data={"threads": threading.active_count(), "text": text})"""


async def test_a_run_starts_no_thread_for_what_it_tells(runner: Runner, make_code: MakeCode) -> None:
    events, result = await unguarded_events(runner, awaiting(make_code(COUNT_THREADS)))
    assert result.error is None
    assert list(result.outputs.values()) == [{"threads": 1, "text": "one two"}]
    assert [event.text for event in events if isinstance(event, NodeToken)] == ["x", "one ", "two"]


OWN_MANAGER = """heard = []
class Own:
    def on_message(self, *, data): heard.append(("message", data["text"]))
    def on_token(self, *, data): heard.append(("token", data["chunk"]))
self._event_manager = Own()
async def pieces():
    yield type("Chunk", (), {"content": "piece"})()
await self._send_message_event(Message(id="m", text="whole"))
await self._stream_message(pieces(), Message(id="m", text=""))
self._event_manager = None
return Data(data={"heard": heard})"""


async def test_an_event_manager_that_a_component_sets_itself_hears_everything(
    runner: Runner, make_code: MakeCode
) -> None:
    events, result = await unguarded_events(runner, awaiting(make_code(OWN_MANAGER)))
    assert result.error is None
    assert list(result.outputs.values()) == [
        {"heard": [["message", "whole"], ["message", "piece"], ["token", "piece"]]}
    ]
    assert not any(isinstance(event, NodeToken) for event in events)
