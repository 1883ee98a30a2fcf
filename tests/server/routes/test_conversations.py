"""Conversations over real HTTP, kept in memory and in the database: listed, read, renamed, deleted and taken back."""

from typing import Any

import httpx
import pytest

from agent.assistant import Assistant
from agent.conversation.in_process import ProcessMemory
from agent.conversation.memory import ConversationState, Exchange
from agent.conversation.stored import StoredMemory
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database import transcripts
from server.settings import ServerSettings
from tests.databases.stored import query
from tests.server.live import FLOWS, STREAM, events, leaving, serving
from tests.shared.flow_texts import AGENT, LOUDER
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
PATH = "/api/v1/conversations"


@pytest.fixture(params=["process", "database"])
def kept(request: pytest.FixtureRequest) -> str:
    """Where conversations are kept."""
    return request.param


def who(kept: str, catalogue: Catalogue, *replies: Any, runner: StandInRunner | None = None, **more: Any) -> Assistant:
    """An assistant that follows a script."""
    made = assistant(catalogue, ScriptedModel(*replies, **more), runner)
    made.memory = ProcessMemory() if kept == "process" else StoredMemory(made.database)
    return made


async def read(client: httpx.AsyncClient, session: str = "s") -> list[dict[str, Any]]:
    """The messages of a conversation."""
    reply = await client.get(f"{PATH}/{session}")
    assert reply.status_code == 200, reply.text
    return reply.json()["messages"]


def kinds(message: dict[str, Any]) -> list[str]:
    return [part["kind"] for part in message["parts"]]


def part(message: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(one for one in message["parts"] if one["kind"] == kind)


async def test_a_conversation_is_read_with_everything_that_came_of_its_messages(
    kept: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    who_serves = who(
        kept, catalogue, "run_flow", call("run_flow", 1, input="hello"), "It said: first", "question", "An input.",
        runner=StandInRunner(results=[ran("first")]),
    )  # fmt: skip
    async with serving(who_serves) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await events(live.client, input_value="Run it with hello", flow_id=flow_id, session_id="s")
        await events(live.client, input_value="What does the Chat Input do?", session_id="s")
        listed = (await live.client.get(PATH)).json()
        first, second = await read(live.client)
        run = (await live.client.get(f"/api/v1/runs/{part(first, 'run')['id']}")).json()
    assert kinds(first) == ["user", "tool_call", "tool_result", "run", "assistant", "record"]
    assert "first" in part(first, "record")["text"], "what was done, as code has recorded it"
    assert part(first, "record")["disagrees"] is False
    assert part(first, "user") == {"kind": "user", "text": "Run it with hello", "files": []}
    assert part(first, "tool_call")["arguments"] == {"input": "hello"}
    assert (part(first, "tool_result")["ok"], part(first, "tool_result")["id"]) == (
        True,
        part(first, "tool_call")["id"],
    )
    assert (part(first, "run")["output"], run["output"], run["source"]) == ("first", "first", "assistant")
    assert (first["flow_id"], first["version"], second["flow_id"], second["version"]) == (flow_id, 1, None, None)
    assert kinds(second) == ["user", "assistant"]
    [entry] = listed["conversations"]
    assert (entry["id"], entry["title"], entry["messages"], entry["waiting"], entry["running"]) == (
        "s", "Run it with hello", 2, False, False,
    )  # fmt: skip
    assert entry["preview"] == part(second, "assistant")["text"]
    assert (listed["total"], listed["next"], entry["created_at"] <= entry["updated_at"]) == (1, None, True)
    assert "progress" not in str([first, second])


async def test_approvals_and_their_answers_are_part_of_it(kept: str, catalogue: Catalogue, echo: JsonObject) -> None:
    plan = call("propose_plan", 1, markdown="# A plan\n\n1. Add an input.")
    build = [call("add_component", 2, type="ChatInput")]
    who_serves = who(kept, catalogue, "build_flow", plan, build, "Added it.")
    async with serving(who_serves) as live:
        asked = (await events(live.client, input_value="Build it", flow=echo, session_id="s"))[-1]["data"]
        waiting = (await live.client.get(PATH)).json()["conversations"][0]
        [approval] = asked["approvals"]
        answer = {"approvals": {approval["id"]: {"decision": "approve"}}, "session_id": "s", "flow": echo}
        await events(live.client, **answer)
        first, second = await read(live.client)
        after = (await live.client.get(PATH)).json()["conversations"][0]
    assert part(first, "approval")["approval"] == {"kind": "plan", "markdown": "# A plan\n\n1. Add an input."}
    assert part(first, "approval")["id"] == approval["id"]
    assert part(second, "answer") == {"kind": "answer", "id": approval["id"], "decision": "approved", "reason": ""}
    assert kinds(second)[0] == "answer", "nothing was written, and nothing of the first message is repeated"
    assert [one["tool"] for one in second["parts"] if one["kind"] == "tool_call"] == ["add_component"]
    assert (waiting["waiting"], after["waiting"]) == (True, False)


async def test_going_back_makes_a_message_unsaid_for_reader_model_and_flow(
    kept: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    model = ScriptedModel(
        "question", "One.",
        "build_flow", [call("add_component", 1, type="ChatInput")], "Added it.",
        "question", "Again.",
    )  # fmt: skip
    made = assistant(catalogue, model)
    made.memory = ProcessMemory() if kept == "process" else StoredMemory(made.database)
    async with serving(made) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        about = {"flow_id": flow_id, "session_id": "s"}
        await events(live.client, input_value="What is it?", **about)
        before = await made.memory.load("local", "s")
        await events(live.client, input_value="Add an input please", **about)
        changed = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
        second = (await read(live.client))[1]
        rewound = await live.client.post(f"{PATH}/s/rewind", json={"message": second["id"], "flow": True})
        after = await made.memory.load("local", "s")
        now = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
        left = await read(live.client)
        await events(live.client, input_value="Which parts are there?", **about)
        again = await read(live.client)
    assert (changed["version"], changed["node_count"]) == (2, 3)
    body = rewound.json()
    assert (rewound.status_code, body["removed"], body["message"]["id"]) == (200, 1, second["id"])
    assert part(body["message"], "user")["text"] == "Add an input please"
    assert (body["flow"]["version"], now["version"], now["flow"]) == (3, 3, echo)
    assert after == before, "the model remembers what it remembered then"
    assert ([one["id"] for one in left], body["conversation"]["messages"]) == ([again[0]["id"]], 1)
    assert "Add an input please" not in str(model.requests[-1])
    assert [part(one, "user")["text"] for one in again] == ["What is it?", "Which parts are there?"]


async def test_going_back_before_an_answer_lets_the_question_wait_again(
    kept: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    plan = call("propose_plan", 1, markdown="# A plan\n\n1. Add an input.")
    build = [call("add_component", 2, type="ChatInput")]
    async with serving(who(kept, catalogue, "build_flow", plan, build, "Added.", build, "Added.")) as live:
        asked = (await events(live.client, input_value="Build it", flow=echo, session_id="s"))[-1]["data"]
        answer = {
            "approvals": {asked["approvals"][0]["id"]: {"decision": "approve"}}, "session_id": "s", "flow": echo
        }  # fmt: skip
        await events(live.client, **answer)
        _, second = await read(live.client)
        rewound = (await live.client.post(f"{PATH}/s/rewind", json={"message": second["id"]})).json()
        ended = (await events(live.client, **answer))[-1]
    assert rewound["conversation"]["waiting"] is True
    assert (ended["event"], len(ended["data"]["flow"]["data"]["nodes"])) == ("complete", 3)


async def test_going_back_to_the_first_message_leaves_an_empty_conversation(kept: str, catalogue: Catalogue) -> None:
    async with serving(who(kept, catalogue, "question", "One.")) as live:
        await events(live.client, input_value="What is an agent?", session_id="s")
        [only] = await read(live.client)
        rewound = (await live.client.post(f"{PATH}/s/rewind", json={"message": only["id"]})).json()
        assert await read(live.client) == []
    assert (rewound["conversation"]["messages"], rewound["conversation"]["title"]) == (0, "What is an agent?")


async def test_far_back_the_texts_are_remembered(
    kept: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "REWINDS", 1)
    monkeypatch.setattr("agent.conversation.in_process.REWINDS", 1)
    replies = [reply for number in range(3) for reply in ("question", f"Answer {number}.")]
    made = who(kept, catalogue, *replies)
    async with serving(made) as live:
        for number in range(3):
            await events(live.client, input_value=f"What is number {number}?", session_id="s")
        second = (await read(live.client))[1]
        assert (await live.client.post(f"{PATH}/s/rewind", json={"message": second["id"]})).json()["removed"] == 2
    state = await made.memory.load("local", "s")
    assert [(turn.user, turn.assistant) for turn in state.turns] == [("What is number 0?", "Answer 0.")]


async def test_nothing_is_taken_back_while_a_turn_runs(kept: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.", blocks_at=3)
    made = assistant(catalogue, model)
    made.memory = ProcessMemory() if kept == "process" else StoredMemory(made.database)
    async with serving(made) as live:
        await events(live.client, input_value="What is an agent?", session_id="s")
        [first] = await read(live.client)
        body = {"input_value": "What else is there?", "session_id": "s"}

        async with live.client.stream("POST", STREAM, json=body):
            await model.blocked.wait()
            running = (await live.client.get(PATH)).json()["conversations"][0]["running"]
            refused = await live.client.post(f"{PATH}/s/rewind", json={"message": first["id"]})
            model.released.set()
        assert len(await read(live.client)) >= 1
    assert (running, refused.status_code, refused.json()["error"]["code"]) == (True, 409, "turn_runs")


async def test_a_turn_that_is_stopped_stands_in_it(kept: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", blocks_at=1)
    made = assistant(catalogue, model)
    made.memory = ProcessMemory() if kept == "process" else StoredMemory(made.database)
    async with serving(made) as live:
        await leaving(live, STREAM, {"input_value": "What is an agent?", "session_id": "s"}, model.blocked)
        await model.cancelled.wait()
        while made.queue.busy("local", "s"):
            await live.client.get("/healthz")
        [only] = await read(live.client)
    assert (kinds(only), part(only, "failure")["code"]) == (["user", "failure"], "cancelled")


@pytest.mark.parity("ADR-015")
async def test_conversations_are_found_renamed_and_deleted_page_by_page(kept: str, catalogue: Catalogue) -> None:
    replies = [reply for _ in range(3) for reply in ("question", "An answer.")]
    async with serving(who(kept, catalogue, *replies)) as live:
        for name in ("agents", "prompts", "loops"):
            await events(live.client, input_value=f"What are {name} for?", session_id=f"about/{name}")
        found, place = list[str](), f"{PATH}?limit=2"
        while place is not None:
            page = (await live.client.get(place)).json()
            found += [one["id"] for one in page["conversations"]]
            place = page["next"]
        searched = (await live.client.get(PATH, params={"q": "PROMPTS"})).json()
        odd = await live.client.patch(f"{PATH}/about/loops", json={"title": "\0x"})
        assert (odd.status_code, odd.json()["title"]) == (200, "x")
        renamed = await live.client.patch(f"{PATH}/about/loops", json={"title": "  For \n each "})
        after = (await live.client.get(PATH, params={"q": "for each"})).json()["conversations"]
        gone = await live.client.delete(f"{PATH}/about/agents")
        missing = await live.client.get(f"{PATH}/about/agents")
        left = (await live.client.get(PATH)).json()["total"]
    assert found == ["about/loops", "about/prompts", "about/agents"]
    assert [one["id"] for one in searched["conversations"]] == ["about/prompts"]
    assert (renamed.status_code, renamed.json()["title"]) == (200, "For each")
    assert [one["id"] for one in after] == ["about/loops"]
    assert (gone.status_code, missing.status_code, left) == (204, 404, 2)
    assert missing.json()["error"]["code"] == "conversation_not_found"


@pytest.mark.table
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("PATCH", "/s", {"title": ""}, 422, "invalid_request"),
        ("PATCH", "/s", {"title": "x" * 201}, 422, "invalid_request"),
        ("PATCH", "/s", {"title": ["x"]}, 422, "invalid_request"),
        ("PATCH", "/s", {}, 422, "invalid_request"),
        ("PATCH", "/other", {"title": "x"}, 404, "conversation_not_found"),
        ("POST", "/s/rewind", {}, 422, "invalid_request"),
        ("POST", "/s/rewind", {"message": "no"}, 404, "message_not_found"),
        ("POST", "/s/rewind", {"message": "ID", "flow": "perhaps"}, 422, "invalid_request"),
        ("POST", "/s/rewind", {"message": "ID", "flow": True}, 409, "no_stored_flow"),
        ("POST", "/other/rewind", {"message": "ID"}, 404, "conversation_not_found"),
        ("POST", "/s/rewind", {"message": "a\0b"}, 422, "invalid_request"),
        ("GET", "/%00", None, 404, "conversation_not_found"),
        ("GET", "/s?limit=0", None, 422, "invalid_request"),
        ("GET", "?offset=x", None, 422, "invalid_request"),
    ],
)
async def test_what_cannot_be_done_says_why_and_changes_nothing(
    method: str, path: str, body: dict[str, Any] | None, status: int, code: str, kept: str, catalogue: Catalogue
) -> None:
    async with serving(who(kept, catalogue, "question", "One.")) as live:
        await events(live.client, input_value="What is an agent?", session_id="s")
        before = await read(live.client)
        if body is not None and body.get("message") == "ID":
            body = {**body, "message": before[0]["id"]}
        reply = await live.client.request(method, f"{PATH}{path}", json=body)
        assert await read(live.client) == before
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


async def test_a_flow_whose_earlier_version_is_gone_is_not_put_back_and_nothing_else_is(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(who("database", catalogue, "question", "One.")) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        await events(live.client, input_value="What is it?", flow_id=flow_id, session_id="s")
        [only] = await read(live.client)
        await live.client.delete(f"{FLOWS}/{flow_id}")
        refused = await live.client.post(f"{PATH}/s/rewind", json={"message": only["id"], "flow": True})
        assert await read(live.client) == [only]
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "flow_not_found")


async def test_what_is_read_outlives_what_a_model_is_told_and_the_server(catalogue: Catalogue) -> None:
    made = assistant(catalogue, ScriptedModel(*["question", "One."] * 12))
    made.memory = memory = StoredMemory(made.database, sessions=1)
    async with serving(made) as live:
        for number in range(11):
            await events(live.client, input_value=f"What is number {number}?", session_id="s")
        await events(live.client, input_value="What is another?", session_id="t")
    assert (await memory.load("local", "s")) == ConversationState()
    async with serving(who("database", catalogue)) as live:
        assert len(await read(live.client)) == 11
        assert (await live.client.get(PATH)).json()["total"] == 2


async def test_conversations_of_earlier_versions_are_listed_with_what_is_known_of_them(
    catalogue: Catalogue,
) -> None:
    made = assistant(catalogue)
    made.memory = memory = StoredMemory(made.database)
    state = ConversationState(turns=[Exchange(user="Build it", assistant="Done.")], title="Build it")
    await memory.save("local", "old", state)
    async with serving(made) as live:
        [entry] = (await live.client.get(PATH)).json()["conversations"]
        [message] = await read(live.client, "old")
    assert (entry["id"], entry["title"], kinds(message)) == ("old", "Build it", ["user", "assistant"])
    rows = str(query(ServerSettings().database_url, "select * from transcripts, transcript_messages"))
    assert "Build it" not in rows, "conversations are encrypted at rest"


@pytest.mark.parametrize(("spec", "decision"), [(LOUDER, "withdrawn"), (AGENT, "approved")])
async def test_a_proposal_in_whose_place_another_flow_was_put_on_the_canvas_was_not_approved(
    spec: str, decision: str, kept: str, catalogue: Catalogue
) -> None:
    builds = [call("build_flow", at, spec=text) for at, text in ((1, AGENT), (2, spec))]
    takes = call("decide_proposal", 3, decision="apply")
    served = who(kept, catalogue, "build_flow", builds[0], "Offered.", "build_flow", builds[1], takes, "Done.")
    async with serving(served, ServerSettings()) as live:
        await events(live.client, input_value="Build a helper", session_id="s")
        await events(live.client, input_value="Build another one and take it", session_id="s")
        first, second = await read(live.client)
    given = part(second, "answer")
    assert (given["id"], given["decision"]) == (part(first, "proposal")["id"], decision)


async def test_an_answer_is_kept_whole_unless_the_message_is_too_large(kept: str, catalogue: Catalogue) -> None:
    said = ["word " * 10_000 + "end", "word " * 210_000 + "end"]
    served = who(kept, catalogue, "question", said[0], "question", said[1])
    async with serving(served, ServerSettings()) as live:
        for text in ("Tell me all of it?", "And more?"):
            await events(live.client, input_value=text, session_id="s")
        whole, too_large = [part(one, "assistant")["text"] for one in await read(live.client)]
    assert whole == said[0]
    assert too_large.endswith("... [truncated, 1050003 characters in all]")
