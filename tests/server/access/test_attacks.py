"""What somebody with a token of their own tries against the server and against another user."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.web import connections
from server.access.scopes import NEEDS
from server.requests.operation import operations
from tests.server.access.test_users import MARK, SESSION, TURN, client_of, everything, fill, routes
from tests.server.access.test_users import model as ada_model
from tests.server.live import ASSIST, FLOWS, STREAM, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

ODD_METHODS = ("HEAD", "OPTIONS", "TRACE", "CONNECTED", "PROPFIND")
NESTED = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
ODD_BODIES = (
    b"",
    b"null",
    b"[]",
    b"{",
    b'{"input_value": "\\ud800", "name": "\\ud800", "value": "\\ud800", "session_id": "\\ud800", "title": "\\ud800"}',
    b'{"input_value": "a\\u0000b", "name": "a\\u0000b", "value": "a\\u0000b", "session_id": "a\\u0000b"}',
    b'{"version": ' + b"9" * 5_000 + b', "days": ' + b"9" * 5_000 + b"}",
    b'{"version": NaN, "days": Infinity}',
    b'{"version": 1e400, "timeout": 1e400}',
    b'{"name": "x", "name": {"name": []}, "models": [[[]]], "scopes": {"a": 1}, "days": true}',
    b'{"input_value": 1, "approvals": [], "files": {}, "flow": 7, "actions": "x", "message": 5}',
    NESTED,
    b"\xff\xfe\x00",
)
SPOOFED = {
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-User": "local",
    "X-Remote-User": "local",
    "X-Original-URL": "/api/v1/users",
    "X-Rewrite-URL": "/api/v1/users",
    "X-HTTP-Method-Override": "DELETE",
    "X-HTTP-Method": "DELETE",
    "Forwarded": "for=127.0.0.1;proto=https",
}


async def test_no_method_and_no_header_opens_what_a_token_does_not(catalogue: Catalogue, echo: JsonObject) -> None:
    async with (
        serving(assistant(catalogue, ada_model(), StandInRunner(results=[ran(f"output {MARK}")]))) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve") as eve,
    ):
        has = await fill(ada, echo)
        before = await everything(ada, has)
        for route in routes():
            for method in ODD_METHODS:
                for client in (eve, live.stranger):
                    reply = await client.request(method, has.path(route), headers=SPOOFED)
                    said = reply.text + str(dict(reply.headers))
                    assert reply.status_code < 500, (method, route.path, reply.status_code)
                    assert MARK not in said, (method, route.path)
                    if client is live.stranger and NEEDS[route.path].read is not None:
                        assert reply.status_code == 401, (method, route.path, reply.status_code)
            spoofed = await eve.get(has.path(route), headers=SPOOFED)
            plain = await eve.get(has.path(route))
            assert spoofed.status_code == plain.status_code, route.path
        assert await everything(ada, has) == before


async def test_two_credentials_are_never_somebody_elses(catalogue: Catalogue, echo: JsonObject) -> None:
    async with (
        serving(assistant(catalogue, ada_model(), StandInRunner(results=[ran("x")]))) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve") as eve,
    ):
        stored = (await ada.post(FLOWS, json=echo)).json()["id"]
        tokens = [client.headers["authorization"] for client in (eve, ada)]
        for given in (
            [("Authorization", tokens[0]), ("Authorization", "Bearer nothing-at-all-nothing-at-all-nothing")],
            [("Authorization", f"{tokens[0]}, {tokens[0]}")],
            [("Authorization", tokens[0].lower().replace("bearer", "Basic"))],
            [("Authorization", tokens[0] + "x" * 9_000)],
        ):
            reply = await live.stranger.get(f"{FLOWS}/{stored}", headers=given)
            assert reply.status_code in (401, 404), (given, reply.status_code)


async def test_odd_bodies_are_refused_at_every_route_and_change_nothing(catalogue: Catalogue, echo: JsonObject) -> None:
    script = ScriptedModel(*("off_topic", f"An answer with {MARK}.") * 100)
    async with (
        serving(assistant(catalogue, script, StandInRunner(results=[ran(f"output {MARK}")]))) as live,
        client_of(live, "ada", "admin") as ada,
    ):
        has = await fill(ada, echo)
        flow = (await ada.get(f"{FLOWS}/{has.values['flow_id']}")).json()["flow"]
        table = list(operations(routes()))
        for path, method, known in table:
            if known is None or known.body is None:
                continue
            place = next(has.path(route) for route in routes() if route.path == path)
            for body in ODD_BODIES:
                headers = {"Content-Type": known.body_types[0]}
                reply = await ada.request(method, place, content=body, headers=headers)
                assert reply.status_code < 500, (method, path, body[:60], reply.text[:200])
        assert (await ada.get(f"{FLOWS}/{has.values['flow_id']}")).json()["flow"] == flow


async def test_a_range_of_a_file_is_no_more_than_the_file(catalogue: Catalogue) -> None:
    content = b"0123456789" * 1_000
    many = "bytes=" + ",".join(f"{first}-9999" for first in range(0, 9_000, 3))
    async with serving(assistant(catalogue)) as live:
        await live.client.post("/api/v1/files", files={"file": ("digits.txt", content)})
        for asked in (many, "bytes=0-0,0-0,0-0", "bytes=9-1", "bytes=-0", "bytes=99999-", "lines=1-2", "bytes=a-b"):
            reply = await live.client.get("/api/v1/files/digits.txt", headers={"Range": asked})
            assert reply.status_code in (200, 206, 400, 416), (asked[:40], reply.status_code)
            assert len(reply.content) < 2 * len(content), asked[:40]


async def asked(client: httpx.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    """The events of a turn, or the error in place of them."""
    try:
        return await events(client, **body)
    except AssertionError:
        return []


async def waiting(model: ScriptedModel) -> None:
    await asyncio.wait_for(model.blocked.wait(), 30)


async def test_cancelling_a_turn_twice_at_once_ends_it_once(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live:
        turn = asyncio.create_task(asked(live.client, input_value="What?", session_id="s", turn_id="t"))
        await waiting(model)
        stops = await asyncio.gather(*(live.client.post("/api/v1/agentic/turns/t/cancel") for _ in range(4)))
        told = await turn
        again = await live.client.post("/api/v1/agentic/turns/t/cancel")
    assert {one.status_code for one in (*stops, again)} == {200}
    assert {one.json()["status"] for one in (*stops, again)} == {"cancelled"}
    assert [one["event"] for one in told].count("cancelled") == 1


async def test_the_same_turn_sent_twice_at_once_is_taken_once(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Once.", "question", "Twice.")
    body = {"input_value": "What?", "session_id": "s", "turn_id": "t"}
    async with serving(assistant(catalogue, model)) as live:
        replies = await asyncio.gather(*(live.client.post(ASSIST, json=body) for _ in range(5)))
        messages = (await live.client.get("/api/v1/conversations/s")).json()["messages"]
    assert sorted(one.status_code for one in replies) == [200, 409, 409, 409, 409]
    assert len(messages) == 1


async def test_two_turns_of_a_conversation_at_once_are_both_remembered(catalogue: Catalogue) -> None:
    model = ScriptedModel(*("question", "Said.") * 3)
    async with serving(assistant(catalogue, model)) as live:
        sent = (live.client.post(ASSIST, json={"input_value": f"Number {n}?", "session_id": "s"}) for n in range(3))
        assert {one.status_code for one in await asyncio.gather(*sent)} == {200}
        messages = (await live.client.get("/api/v1/conversations/s")).json()["messages"]
    assert len(messages) == 3


@pytest.mark.parametrize("how", ["conversation", "reset", "flow"])
async def test_what_is_deleted_during_a_turn_stays_deleted(how: str, catalogue: Catalogue, echo: JsonObject) -> None:
    model = ScriptedModel("question", "First.", "question", "Never said.", blocks_at=3)
    async with serving(assistant(catalogue, model)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        about = {"session_id": "s", "flow_id": flow}
        await events(live.client, input_value="What is it?", **about)
        turn = asyncio.create_task(asked(live.client, input_value="And then?", turn_id="t", **about))
        await waiting(model)
        if how == "conversation":
            assert (await live.client.delete("/api/v1/conversations/s")).status_code == 204
        elif how == "reset":
            reset = await live.client.post("/api/v1/agentic/sessions/reset", json={"session_id": "s"})
            assert reset.status_code == 200
        else:
            assert (await live.client.delete(f"{FLOWS}/{flow}")).status_code == 204
        rewound = await live.client.post("/api/v1/conversations/s/rewind", json={"message": "t"})
        await live.client.post("/api/v1/agentic/turns/t/cancel")
        told = await turn
        left = await live.client.get("/api/v1/conversations/s")
        stored = await live.client.get(f"{FLOWS}/{flow}")
    assert told[-1]["event"] == "cancelled"
    assert rewound.status_code in (404, 409)
    assert left.status_code == (200 if how == "flow" else 404)
    assert stored.status_code == (404 if how == "flow" else 200)


async def test_a_user_who_is_revoked_during_a_turn_cannot_follow_or_ask_again(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Never said.", blocks_at=1)
    async with serving(assistant(catalogue, model)) as live, client_of(live, "ada") as ada:
        body = {"input_value": "What?", "session_id": "s", "turn_id": "t", "resumable": True}
        turn = asyncio.create_task(asked(ada, **body))
        await waiting(model)
        assert (await live.client.post("/api/v1/users/ada/revoke")).status_code == 200
        refused = [
            await ada.get("/api/v1/agentic/turns/t/events"),
            await ada.post("/api/v1/agentic/turns/t/cancel"),
            await ada.post(STREAM, json=body),
        ]
        turn.cancel()
    assert [one.status_code for one in refused] == [401, 401, 401]


async def test_names_of_others_are_ones_own(catalogue: Catalogue, echo: JsonObject) -> None:
    model = ScriptedModel("question", f"Only {MARK}.", "question", "For Eve.")
    async with (
        serving(assistant(catalogue, model)) as live,
        client_of(live, "ada") as ada,
        client_of(live, "eve") as eve,
    ):
        same = {"input_value": "What?", "session_id": SESSION, "turn_id": TURN}
        key = {"Idempotency-Key": "the-same"}
        hers = await ada.post(ASSIST, json=same, headers=key)
        mine = await eve.post(ASSIST, json=same, headers=key)
        assert (hers.status_code, mine.status_code) == (200, 200)
        await eve.delete(f"/api/v1/conversations/{SESSION}")
        kept = await ada.get(f"/api/v1/conversations/{SESSION}")
    assert mine.json()["result"] == "For Eve."
    assert MARK in kept.text


async def test_a_body_that_never_ends_or_lies_about_its_length_is_refused(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "DISCARD_SECONDS", 0.1)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 65_536

    async with serving(assistant(catalogue)) as live:
        for method, path in (("POST", FLOWS), ("POST", "/api/v1/users"), ("POST", "/api/v1/models/test")):
            try:
                reply = await live.client.request(
                    method, path, content=endless(), headers={"Content-Type": "application/json"}
                )
            except httpx.TransportError:
                continue  # the server closes the connection while more is sent
            assert reply.status_code == 413, (path, reply.status_code)
        assert (await live.client.get("/api/v1/me")).status_code == 200


def test_the_bodies_are_odd() -> None:
    with pytest.raises((ValueError, RecursionError)):
        json.loads(NESTED)
