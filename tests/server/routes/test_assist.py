"""Turns over real HTTP: order and shape of the events, who stops them, and what becomes of the stored flow."""

from typing import Any

import anyio
import httpx
import pytest
from dirty_equals import IsFloat, IsInt, IsStr
from inline_snapshot import snapshot
from pydantic_ai.exceptions import ModelRateLimitError

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from tests.server.live import ASSIST, STREAM, events, frames, leaving, serving
from tests.shared.flow_texts import ECHO, LOUDER_REQUEST
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
ADD = call("add_component", 1, type="ChatInput")
RUN = call("run_flow", 2, input="hello")


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [event.get("step") or event.get("action") or event["event"] for event in found]


@pytest.mark.parity(
    "base-term-single-agent-loop", "term-flow-ran", "smoke-usage-no-envelope", "ADR-MCP-005", "term-flow-event-queue"
)
async def test_a_build_and_run_streams_its_events_in_order(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], [RUN], "Built and ran it.")
    runner = StandInRunner(results=[ran("probe"), ran("hello")])
    async with serving(assistant(catalogue, model, runner)) as live:
        found = await events(live.client, input_value="Build an echo and run it with hello", session_id="agentic_1")
    assert kinds(found) == snapshot(
        [
            "generating",
            "orchestrating",
            "building_flow",
            "set_flow",
            "flow_preview",
            "flow_built",
            "running_flow",
            "set_flow",
            "complete",
        ]
    )
    offered, applied = [event for event in found if event.get("action") == "set_flow"]
    assert (offered["auto_apply"], applied["auto_apply"]) == (False, True)
    preview = next(event for event in found if event["event"] == "flow_preview")
    assert (preview["name"], preview["node_count"], preview["edge_count"]) == ("Echo", 2, 1)
    data = found[-1]["data"]
    assert data["flow"] == applied["flow"] == preview["flow"]
    assert Flow.from_json(data["flow"]).name == "Echo"
    assert {key: data[key] for key in data if key != "flow"} == snapshot(
        {
            "result": "Built and ran it.",
            "intent": "build_flow",
            "session_id": "agentic_1",
            "actions": 1,
            "faults": [],
            "caveats": [],
            "model": "scripted",
            "usage": {"input_tokens": IsInt(gt=0), "output_tokens": IsInt(gt=0), "total_tokens": IsInt(gt=0)},
            "duration_seconds": IsFloat(),
            "validated": True,
            "run": {
                "ok": True,
                "run_id": "run-1",
                "output": "hello",
                "outputs": {"answer": "hello"},
                "nodes": {},
                "types": {},
                "metrics": {
                    "seconds": 0.01,
                    "input_tokens": 0,
                    "output_tokens": 0,
                    "total_tokens": 0,
                    "model_calls": 0,
                    "peak_mb": 0,
                },
                "usage": {},
                "error": None,
            },
            "run_metrics": {"duration_seconds": 0.01, "input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
            "record": {
                "proposal": {"flow": "Echo", "status": "applied"},
                "changes": [],
                "components": [],
                "files": [],
                "plans": [],
                "installs": [],
                "runs": [
                    {"by": "verification", "input": "hello", "output": "probe", "error": None},
                    {"by": "user", "input": "hello", "output": "hello", "error": None},
                ],
                "waiting": False,
                "not_done": [],
                "disagrees": False,
                "text": """\
On the canvas now: the flow “Echo”.
Run (“hello”): it gave “hello”
Nothing else was changed, run or written.\
""",
            },
        }
    )


@pytest.mark.parity("base-term-session-prefix", "ADR-011")
async def test_a_flow_that_was_only_built_is_offered(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Built it.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Build an echo")
    assert kinds(found)[-2:] == ["flow_proposal_ready", "complete"]
    data = found[-1]["data"]
    assert data["proposal"]["name"] == "Echo"
    assert Flow.from_json(data["flow"]).is_empty
    assert data["session_id"] == IsStr(regex="agentic_[0-9a-f-]{36}")


@pytest.mark.parity("ADR-001", "base-term-sse")
async def test_the_stream_is_plain_server_sent_events(catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "It\u2028takes\nwhat is typed.")
    async with serving(assistant(catalogue, model)) as live:
        reply = await live.client.post(STREAM, json={"input_value": "What is a chat input?"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-cache"
    assert b"\r" not in reply.content
    blocks = reply.content.decode().split("\n\n")
    assert blocks[-1] == ""
    assert all(block.startswith("data: {") and "\n" not in block for block in blocks[:-1])


@pytest.mark.parity("base-term-token-event")
async def test_a_question_streams_its_answer(catalogue: Catalogue) -> None:
    answer = "A chat input takes what a person types and gives it on as a message."
    async with serving(assistant(catalogue, ScriptedModel("question", answer))) as live:
        found = await events(live.client, input_value="What is a chat input?")
    chunks = [event["chunk"] for event in found if event["event"] == "token"]
    assert len(chunks) > 1
    assert "".join(chunks) == answer == found[-1]["data"]["result"]


async def test_the_text_of_a_turn_that_acts_is_not_streamed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [ADD], "I added it."))) as live:
        found = await events(live.client, input_value="Add a chat input")
    assert "token" not in kinds(found)
    assert found[-1]["data"]["result"] == "I added it."


async def test_the_first_event_arrives_before_any_model_has_answered(catalogue: Catalogue) -> None:
    blocked = ScriptedModel("question", "It takes what is typed.", blocks_at=0)
    async with (
        serving(assistant(catalogue, blocked)) as live,
        live.client.stream("POST", STREAM, json={"input_value": "What is a chat input?"}) as response,
    ):
        found = frames(response)
        assert (await anext(found))["event"] == "progress"
        blocked.released.set()
        assert [event["event"] async for event in found][-1] == "complete"


async def test_the_demo_planner_serves_when_nothing_is_configured(catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("Say it louder: hello")])
    async with serving(assistant(catalogue, runner=runner)) as live:
        for asked in ({}, {"provider": "demo"}, {"model_name": "demo"}, {"provider": "Demo", "model_name": "demo"}):
            data = (await events(live.client, input_value=LOUDER_REQUEST, **asked))[-1]["data"]
            assert data["run"]["output"] == "Say it louder: hello"
            assert data["usage"] == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
            assert data["model"] == "demo"


async def test_an_inline_flow_is_the_canvas(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [RUN], "Ran it."), StandInRunner())) as live:
        data = (await events(live.client, input_value="Run it", flow=echo))[-1]["data"]
    assert data["flow"] == echo
    assert data["actions"] == 0
    assert "saved" not in data


async def test_one_reply_holds_what_the_stream_ends_with(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [RUN], "Ran it."))) as live:
        reply = await live.client.post(ASSIST, json={"input_value": "Run it", "flow": echo})
    assert reply.status_code == 200
    assert (reply.json()["result"], reply.json()["run"]["output"], reply.json()["flow"]) == ("Ran it.", "done", echo)


# Failures


@pytest.mark.parametrize(
    ("failure", "code", "status"),
    [
        (ModelRateLimitError("gpt", "secret organisation"), "rate_limit", 502),
        (RuntimeError("secret detail in /home/someone"), "internal", 500),
    ],
    ids=["a provider's", "ours"],
)
@pytest.mark.parity("base-error-flow-execution", "error-flow-execution")
async def test_a_failure_ends_the_turn_in_words_without_the_exceptions_text(
    failure: Exception, code: str, status: int, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue, ScriptedModel(failure))) as live:
        response = await live.client.post(STREAM, json={"input_value": "Build an echo"})
        found = await events(live.client, input_value="Build an echo")
        reply = await live.client.post(ASSIST, json={"input_value": "Build an echo"})
    assert found[-1]["event"] == "error"
    assert found[-1]["code"] == reply.json()["error"]["code"] == code
    assert found[-1]["duration_seconds"] == IsFloat()
    assert reply.status_code == status
    assert "secret" not in response.text + reply.text


# Leaving


@pytest.mark.parametrize("path", [STREAM, ASSIST])
@pytest.mark.parity("base-error-client-gone")
async def test_a_lost_client_cancels_the_turn(path: str, catalogue: Catalogue) -> None:
    blocked = ScriptedModel(blocks_at=0)
    async with serving(assistant(catalogue, blocked)) as live:
        await leaving(live, path, {"input_value": "Build an echo"}, blocked.blocked)
        with anyio.fail_after(10):
            await blocked.cancelled.wait()
        assert (await live.client.get("/healthz")).status_code == 200


@pytest.mark.parametrize("path", [STREAM, ASSIST])
async def test_a_lost_client_cancels_the_run_of_its_turn(path: str, catalogue: Catalogue, echo: JsonObject) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [RUN], "Ran it."), runner)) as live:
        await leaving(live, path, {"input_value": "Run it", "flow": echo}, runner.running)
        with anyio.fail_after(10):
            await runner.cancelled.wait()


async def test_a_server_that_stops_says_so_on_open_streams_and_ends(catalogue: Catalogue) -> None:
    blocked = ScriptedModel(blocks_at=0)
    async with (
        serving(assistant(catalogue, blocked)) as live,
        live.client.stream("POST", STREAM, json={"input_value": "Build an echo"}) as response,
    ):
        found = frames(response)
        assert (await anext(found))["event"] == "progress"
        await blocked.blocked.wait()
        live.server.stop()
        assert [event["event"] async for event in found] == ["cancelled"]
        assert blocked.cancelled.is_set()
        with anyio.fail_after(10):
            await live.task


async def test_a_server_that_stops_answers_those_who_wait_for_one_reply(catalogue: Catalogue) -> None:
    blocked = ScriptedModel(blocks_at=0)
    async with serving(assistant(catalogue, blocked)) as live:
        replies: list[httpx.Response] = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                replies.append(await live.client.post(ASSIST, json={"input_value": "Build an echo"}))

            tasks.start_soon(ask)
            await blocked.blocked.wait()
            live.server.stop()
        assert replies[0].status_code == 503
        assert replies[0].json()["error"]["code"] == "stopping"
