"""Stored flows that are linked to flows of a Langflow server, over real HTTP."""

import json
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.responses import HTMLResponse

from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.spec import build
from tests.runtime.langflow.stand_in import KEY, StandInLangflow, langflow
from tests.server.live import FLOWS, Live, serving
from tests.shared.flow_texts import LOUDER
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio

CONNECTIONS = "/api/v1/langflow"
TEXT = "Say it louder"
SECRET = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"


@pytest.fixture
def there() -> Generator[StandInLangflow]:
    with langflow() as stand_in:
        yield stand_in


@dataclass
class Linked:
    """A stored flow that is linked to one there."""

    live: Live
    there: StandInLangflow
    path: str
    remote: dict[str, Any]

    async def put(self, what: str = "", **body: object) -> httpx.Response:
        return await self.live.client.put(f"{self.path}/langflow{what}", json=body)

    async def state(self) -> dict[str, Any]:
        return (await self.live.client.get(f"{self.path}/langflow")).json()

    async def stored(self) -> dict[str, Any]:
        return (await self.live.client.get(self.path)).json()

    async def change(self, new: str) -> int:
        """Store another text; returns the version."""
        stored = await self.stored()
        flow = json.loads(json.dumps(stored["flow"]).replace(TEXT, new))
        reply = await self.live.client.put(self.path, json={"flow": flow, "version": stored["version"]})
        return reply.json()["version"]

    def change_there(self, new: str) -> None:
        self.there.touch(self.remote, data=json.loads(json.dumps(self.remote["data"]).replace(TEXT, new)))


@pytest.fixture
async def live(catalogue: Catalogue) -> AsyncGenerator[Live]:
    async with serving(assistant(catalogue, ScriptedModel(), StandInRunner())) as live:
        yield live


@pytest.fixture
def flow(catalogue: Catalogue) -> JsonObject:
    built = build(LOUDER, catalogue).flow
    assert built is not None
    return built.to_json()


async def connect(live: Live, there: StandInLangflow) -> None:
    reply = await live.client.put(f"{CONNECTIONS}/team", json={"url": there.url, "api_key": KEY})
    assert (reply.status_code, reply.json()) == (200, {"name": "team", "url": there.url})


@pytest.fixture
async def linked(live: Live, there: StandInLangflow, flow: JsonObject) -> Linked:
    await connect(live, there)
    remote = there.add("Louder", flow["data"], description=flow["description"])
    stored = (await live.client.post(FLOWS, json=flow)).json()
    one = Linked(live, there, f"{FLOWS}/{stored['id']}", remote)
    reply = await one.put(connection="team", flow="Louder")
    assert reply.status_code == 200, reply.text
    there.requests.clear()
    return one


async def test_connections_are_listed_without_keys_and_removed(live: Live, there: StandInLangflow) -> None:
    await connect(live, there)
    there.add("Echo", {"nodes": [], "edges": []})
    for path in (CONNECTIONS, f"{CONNECTIONS}/team/flows", "/api/v1/variables"):
        assert KEY not in (await live.client.get(path)).text
    (found,) = (await live.client.get(f"{CONNECTIONS}/team/flows")).json()["flows"]
    assert (found["name"], found["folder"]) == ("Echo", "Starter Project")
    assert (await live.client.delete(f"{CONNECTIONS}/team")).status_code == 204
    assert (await live.client.delete(f"{CONNECTIONS}/team")).status_code == 404
    assert (await live.client.get(f"{CONNECTIONS}/team/flows")).json()["error"]["code"] == "not_connected"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"url": "http://127.0.0.1:1", "api_key": KEY}, 502, "langflow_unreachable"),
        ({"url": "http://127.0.0.1:1"}, 422, "invalid_request"),
        ({"url": "http://langflow.example.org", "api_key": KEY}, 422, "insecure_server"),
        ({"url": "http://169.254.169.254", "api_key": KEY}, 422, "address_refused"),
        ({"url": "http://[::ffff:169.254.169.254]", "api_key": KEY, "insecure": True}, 422, "address_refused"),
        ({"url": "http://2852039166", "api_key": KEY, "insecure": True}, 422, "address_refused"),
        ({"url": "http://0xA9FEA9FE", "api_key": KEY, "insecure": True}, 422, "address_refused"),
        ({"url": "not an address", "api_key": KEY}, 422, "bad_address"),
        ({"url": "http://127.0.0.1:1", "api_key": "a b"}, 422, "bad_key"),
    ],
)
async def test_what_cannot_be_connected_is_refused(live: Live, body: JsonObject, status: int, code: str) -> None:
    reply = await live.client.put(f"{CONNECTIONS}/team", json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert KEY not in reply.text
    assert (await live.client.get(CONNECTIONS)).json() == {"connections": []}


async def test_a_key_that_is_not_taken_and_pages_that_are_no_langflow(live: Live, there: StandInLangflow) -> None:
    reply = await live.client.put(f"{CONNECTIONS}/team", json={"url": there.url, "api_key": "sk-another-key"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "key_refused")
    there.fault = HTMLResponse("<html>sign in</html>")
    reply = await live.client.put(f"{CONNECTIONS}/team", json={"url": there.url, "api_key": KEY})
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "not_langflow")


async def test_a_link_shows_when_the_flow_there_has_moved_on(linked: Linked) -> None:
    state = await linked.state()
    assert (state["moved"], state["changed_here"], state["problem"]) == ("no", False, None)
    linked.change_there("Sing it")
    assert (await linked.state())["moved"] == "content"
    assert (await linked.change("Whisper")) == 2
    assert (await linked.state())["changed_here"] is True
    linked.there.flows.clear()
    gone = await linked.state()
    assert (gone["moved"], bool(gone["problem"])) == (None, True)
    assert (await linked.live.client.delete(f"{linked.path}/langflow")).status_code == 204
    assert (await linked.live.client.get(f"{linked.path}/langflow")).json()["error"]["code"] == "not_linked"


async def test_a_change_is_sent_as_one_update(linked: Linked) -> None:
    version = await linked.change("Whisper")
    preview = (await linked.put("/send", version=version, preview=True)).json()
    assert (preview["sent"], len(preview["changes"]), linked.there.changes()) == (False, 1, [])
    reply = await linked.put("/send", version=version)
    assert (reply.status_code, reply.json()["sent"]) == (200, True)
    assert linked.there.changes() == [f"PATCH /flows/{linked.remote['id']}"]
    assert "Whisper" in json.dumps(linked.remote)
    assert (await linked.put("/send", version=version)).json()["sent"] is False
    assert (await linked.put("/send", version=1)).status_code == 409
    assert (await linked.put("/send")).status_code == 428


async def test_what_was_changed_there_is_taken_over_as_a_version(linked: Linked) -> None:
    linked.change_there("Sing it")
    reply = await linked.put("/read", version=1)
    assert (reply.status_code, reply.json()["version"], len(reply.json()["changes"])) == (200, 2, 1)
    assert "Sing it" in json.dumps((await linked.stored())["flow"])
    state = await linked.state()
    assert (state["moved"], state["changed_here"]) == ("no", False)
    assert (await linked.put("/read", version=2)).json() == {"version": 2, "changes": []}


async def test_nothing_is_overwritten_unasked_in_either_direction(linked: Linked) -> None:
    version = await linked.change("Whisper")
    linked.change_there("Sing it")
    for what in ("/send", "/read"):
        reply = await linked.put(what, version=version)
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "flow_moved_on")
    assert linked.there.changes() == []
    assert (await linked.put("/read", version=version, overwrite=True)).json()["version"] == 3
    assert "Sing it" in json.dumps((await linked.stored())["flow"])


async def test_what_is_missing_there_waits_for_approval(linked: Linked) -> None:
    stored = await linked.stored()
    field = {"name": "api_key", "type": "str", "password": True, "load_from_db": True, "value": "SERPER_API_KEY"}
    stored["flow"]["data"]["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    await linked.live.client.put(linked.path, json={"flow": stored["flow"], "version": 1})
    waits = (await linked.put("/send", version=2)).json()
    assert (waits["sent"], waits["needs_approval"]) == (False, True)
    assert [one["code"] for one in waits["missing"]] == ["unmapped_variable"]
    assert linked.there.changes() == []
    assert (await linked.put("/send", version=2, approved=True)).json()["sent"] is True


async def test_secrets_of_the_flow_there_are_not_stored_here_and_stay_there(linked: Linked) -> None:
    data = json.loads(json.dumps(linked.remote["data"]))
    field = {"name": "api_key", "type": "str", "password": True, "value": SECRET}
    data["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    linked.there.touch(linked.remote, data=data)
    version = (await linked.put("/read", version=1)).json()["version"]
    assert SECRET not in json.dumps(await linked.stored())
    version = await linked.change("Whisper")
    assert (await linked.put("/send", version=version)).json()["sent"] is True
    assert SECRET in json.dumps(linked.remote)


async def test_a_link_ends_with_the_flow_and_with_the_connection(linked: Linked) -> None:
    assert (await linked.live.client.delete(f"{CONNECTIONS}/team")).status_code == 204
    assert (await linked.state())["problem"] == f"{linked.there.url} is not connected."
    reply = await linked.put("/send", version=1)
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_connected")
    assert (await linked.live.client.delete(linked.path)).status_code == 204
    assert (await linked.live.client.get(f"{linked.path}/langflow")).status_code == 404
