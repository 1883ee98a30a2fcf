"""Following a turn: a client that is cut off anywhere misses nothing, and what is not its own does not exist."""

import asyncio
import json
from typing import Any

import anyio
import httpx
import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from server.settings import ServerSettings
from tests.server.live import ASSIST, STREAM, Live, frames, leaving, serving
from tests.server.streams.following import TURNS, followed, numbered, plain, some, started
from tests.shared.scripted_assistant import ScriptedModel, Step, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
ANSWER = "The first sentence. " * 20
BUILD: tuple[Step, ...] = (
    "build_flow",
    [call("add_component", 1, type="ChatInput")],
    [call("add_component", 2, type="ChatOutput")],
    "Added both.",
)
SCRIPTS: dict[str, tuple[Step, ...]] = {"question": ("question", ANSWER), "build": BUILD}


async def error_of(client: httpx.AsyncClient, path: str, **request: Any) -> tuple[int, str]:
    reply = await client.request(request.pop("method", "GET"), path, **request)
    return reply.status_code, reply.json()["error"]["code"]


@pytest.mark.both_databases
@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_client_that_is_cut_off_after_any_event_misses_nothing(script: str, catalogue: Catalogue) -> None:
    model = ScriptedModel()
    async with serving(assistant(catalogue, model)) as live:

        async def asked(count: int | None) -> list[dict[str, Any]]:
            model.replies[:] = SCRIPTS[script]
            return await started(live.client, count, input_value="Go on", session_id=f"s-{count}", turn_id=f"t-{count}")

        whole = await asked(None)
        assert [event["sequence"] for event in whole] == list(range(1, len(whole) + 1))
        assert whole[-1]["event"] == "complete"
        for count in range(1, len(whole) + 1):
            before = await asked(count)
            after = await followed(live.client, f"t-{count}", before[-1]["sequence"])
            assert plain(before + after) == plain(whole), count
            assert await followed(live.client, f"t-{count}") == before + after


@pytest.mark.parametrize("held", range(len(BUILD)))
async def test_a_client_that_comes_back_gets_what_it_missed_and_then_what_happens(
    held: int, catalogue: Catalogue
) -> None:
    model = ScriptedModel(*BUILD, blocks_at=held)
    async with serving(assistant(catalogue, model)) as live:
        async with live.client.stream("POST", STREAM, json={"input_value": "Go", "resumable": True}) as response:
            turn, before = response.headers["wirewright-turn"], numbered(response)
            first = await anext(before)
            await model.blocked.wait()
        found: list[dict[str, Any]] = [first]
        async with live.client.stream("GET", f"{TURNS}/{turn}/events?after=1") as response:
            model.released.set()
            found += await some(numbered(response))
        assert [event["sequence"] for event in found] == list(range(1, len(found) + 1))
        assert found[-1]["data"]["result"] == "Added both."
        assert await followed(live.client, turn) == found


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_id_of_the_last_event_resumes_as_browsers_and_fetch_clients_send_it(
    method: str, catalogue: Catalogue
) -> None:
    body = {"input_value": "What?", "resumable": True, "turn_id": "t"}
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        before = await started(live.client, 3, **body)
        path, sent = (f"{TURNS}/t/events?after=1", None) if method == "GET" else (STREAM, body)
        async with live.client.stream(method, path, json=sent, headers={"Last-Event-ID": "t.3"}) as response:
            after = await some(numbered(response))
        assert await followed(live.client, "t") == before + after
        again = await live.client.request(
            method, path, json=sent, headers={"Last-Event-ID": f"t.{len(before + after)}"}
        )
    assert (again.status_code, again.content) == (204, b""), "an EventSource asks again until it is told to stop"


async def test_a_turn_that_nobody_can_resume_has_no_numbers_and_can_be_read_afterwards(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        async with live.client.stream("POST", STREAM, json={"input_value": "What?"}) as response:
            turn = response.headers["wirewright-turn"]
            sent = [event async for event in frames(response)]
        assert not {"turn_id", "sequence"} & {key for event in sent for key in event}
        read = await followed(live.client, turn)
    assert [{key: event[key] for key in event if key not in ("turn_id", "sequence")} for event in read] == sent


async def test_a_reply_without_a_stream_names_its_turn(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        reply = await live.client.post(ASSIST, json={"input_value": "What?"})
        read = await followed(live.client, reply.headers["wirewright-turn"])
    assert read[-1]["data"] == reply.json()


async def test_two_clients_follow_one_turn_and_either_may_leave(catalogue: Catalogue) -> None:
    model = ScriptedModel(*BUILD, blocks_at=2)
    async with (
        serving(assistant(catalogue, model)) as live,
        live.client.stream("POST", STREAM, json={"input_value": "Go", "resumable": True, "turn_id": "t"}) as one,
    ):
        first = [await anext(numbered(one))]
        async with live.client.stream("GET", f"{TURNS}/t/events") as two:
            await model.blocked.wait()
            await one.aclose()
            model.released.set()
            second = await some(numbered(two))
    assert second[:1] == first
    assert second[-1]["event"] == "complete"


async def test_a_turn_ends_with_its_client_unless_it_is_resumable(catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    script = ("build_flow", [call("run_flow", 1, input="hello")], "Ran it.")
    async with serving(assistant(catalogue, ScriptedModel(*script), runner)) as live:
        request: dict[str, object] = {"input_value": "Run it", "flow": echo, "turn_id": "t"}
        await leaving(live, STREAM, request, runner.running)
        with anyio.fail_after(10):
            await runner.cancelled.wait()
        last = (await followed(live.client, "t"))[-1]
    assert (last["event"], last["reason"]) == ("cancelled", "abandoned")


async def test_a_resumable_turn_outlives_its_client_by_the_time_that_is_set(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=1)
    settings = ServerSettings(turn_grace=0.05)
    async with serving(assistant(catalogue, model), settings) as live:
        body = {"input_value": "What?", "resumable": True, "turn_id": "t"}
        async with live.client.stream("POST", STREAM, json=body):
            await model.blocked.wait()
        with anyio.fail_after(10):
            await model.cancelled.wait()
        last = (await followed(live.client, "t"))[-1]
    assert (last["event"], last["reason"]) == ("cancelled", "abandoned")


async def test_a_turn_is_stopped_by_its_id_and_its_stream_says_so(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        body = {"input_value": "What?", "resumable": True, "turn_id": "t"}
        async with live.client.stream("POST", STREAM, json=body) as response:
            await model.blocked.wait()
            stopped = await live.client.post(f"{TURNS}/t/cancel")
            seen = await some(numbered(response))
        again = await live.client.post(f"{TURNS}/t/cancel")
    assert model.cancelled.is_set(), "a provider that hangs is let go"
    assert (seen[-1]["event"], seen[-1]["reason"]) == ("cancelled", "stopped")
    assert stopped.json() == again.json() == {"turn_id": "t", "status": "cancelled"}


async def test_stopping_a_turn_that_has_ended_changes_nothing(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        sent = await started(live.client, input_value="What?", turn_id="t")
        stopped = await live.client.post(f"{TURNS}/t/cancel")
        assert stopped.json() == {"turn_id": "t", "status": "complete"}
        assert await followed(live.client, "t") == sent


async def test_a_message_waits_for_a_turn_that_goes_on_alone_and_can_be_taken_back(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        await started(live.client, 1, input_value="One?", session_id="s", turn_id="one")
        await model.blocked.wait()
        waiting = await started(live.client, 2, input_value="Two?", session_id="s", turn_id="two")
        assert waiting[-1]["message"] == "Waiting for the message before this one..."
        assert (await live.client.post(f"{TURNS}/two/cancel")).json()["status"] == "cancelled"
        model.released.set()
        assert (await followed(live.client, "one"))[-1]["data"]["result"] == "One."


async def test_the_id_of_a_turn_is_used_once(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", ANSWER, blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        body = {"input_value": "What?", "turn_id": "t", "resumable": True}
        async with live.client.stream("POST", STREAM, json=body) as response:
            await model.blocked.wait()
            both = await asyncio.gather(*(error_of(live.client, STREAM, method="POST", json=body) for _ in range(2)))
            model.released.set()
            await some(numbered(response))
        later = await error_of(live.client, ASSIST, method="POST", json=body)
    assert [*both, later] == [(409, "turn_exists")] * 3
    assert len(model.requests) == 2, "nothing was asked twice"


async def test_two_requests_with_one_id_at_once_are_one_turn(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        body = {"input_value": "What?", "turn_id": "t"}
        replies = await asyncio.gather(*(live.client.post(ASSIST, json=body) for _ in range(5)))
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409, 409]


@pytest.mark.parametrize(
    ("path", "header", "status", "code"),
    [
        (f"{TURNS}/unknown/events", None, 404, "turn_not_found"),
        (f"{TURNS}/{'x' * 300}/events", None, 404, "turn_not_found"),
        (f"{TURNS}/a%00b/events", None, 404, "turn_not_found"),
        (f"{TURNS}/t/events?after=-1", None, 422, "invalid_request"),
        (f"{TURNS}/t/events?after=many", None, 422, "invalid_request"),
        (f"{TURNS}/t/events", "other.1", 422, "invalid_request"),
        (f"{TURNS}/t/events", "t.x", 422, "invalid_request"),
        (f"{TURNS}/t/events", "t." + "9" * 30, 422, "invalid_request"),
    ],
)
async def test_what_cannot_be_followed_is_refused(
    path: str, header: str | None, status: int, code: str, catalogue: Catalogue
) -> None:
    headers = {} if header is None else {"Last-Event-ID": header}
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        await started(live.client, input_value="What?", turn_id="t")
        assert await error_of(live.client, path, headers=headers) == (status, code)
        if path.endswith("unknown/events"):
            assert await error_of(live.client, f"{TURNS}/unknown/cancel", method="POST") == (status, code)


@pytest.mark.parametrize("name", ["", "a.b", "a/b", "ü", "x" * 65, 7])
async def test_a_turn_cannot_have_any_name(name: object, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        body = {"input_value": "What?", "turn_id": name}
        assert (await error_of(live.client, STREAM, method="POST", json=body)) == (422, "invalid_request")


@pytest.mark.parametrize("session", ["null \x00 byte", "ü" * 200])
async def test_a_conversation_of_any_name_is_stored(session: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*SCRIPTS["question"]))) as live:
        sent = await started(live.client, session_id=session, input_value="What?", turn_id="t")
        assert await followed(live.client, "t") == sent


async def test_a_conversation_that_is_forgotten_leaves_no_events(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.", "question", "Three.", blocks_at=5)
    async with serving(assistant(catalogue, model)) as live:
        await started(live.client, input_value="One?", session_id="s", turn_id="ended")
        await started(live.client, input_value="Two?", session_id="other", turn_id="other")
        async with live.client.stream(
            "POST", STREAM, json={"input_value": "Three?", "session_id": "s", "turn_id": "runs", "resumable": True}
        ) as response:
            await model.blocked.wait()
            await live.client.post("/api/v1/agentic/sessions/reset", json={"session_id": "s", "what": "session"})
            model.released.set()
            assert (await some(numbered(response)))[-1]["event"] == "complete"
        assert await error_of(live.client, f"{TURNS}/ended/events") == (404, "turn_not_found")
        assert (await followed(live.client, "other"))[-1]["event"] == "complete"
        await forgotten(live, "runs")


async def forgotten(live: Live, turn: str) -> None:
    """Wait until a turn that has ended is stored, and deleted with its conversation."""
    with anyio.fail_after(10):
        while (await live.client.get(f"{TURNS}/{turn}/events")).status_code != 404:  # noqa: ASYNC110  (it tells nobody)
            await asyncio.sleep(0.02)


async def test_pings_are_comments(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.streams.response.PING_SECONDS", 0.05)
    model = ScriptedModel("question", "Said.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        await started(live.client, 1, input_value="What?", turn_id="t")
        async with live.client.stream("GET", f"{TURNS}/t/events") as response:
            lines = response.aiter_lines()
            async for line in lines:
                if line.startswith(":"):
                    break
            model.released.set()
            rest = [line async for line in lines]
    sent = [line for line in rest if line and not line.startswith(":")]
    assert all(line.startswith(("id: ", "data: ")) for line in sent)
    assert json.loads(sent[-1].removeprefix("data: "))["event"] == "complete"
