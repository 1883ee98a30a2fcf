"""Turns on stored flows: what is saved, when, and what is left alone; and the model that a request names."""

import anyio
import pytest

from agent.errors import ModelChoiceError
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.edits import configure
from runtime.database.database import Database
from server.errors import ApiError
from server.requests.model import wanted_model
from server.settings import ServerSettings
from server.store.sql import SqlFlowStore
from tests.server.live import FLOWS, STREAM, Live, events, frames, leaving, serving
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

ADD = call("add_component", 1, type="ChatInput")
ADD_OUTPUT = call("add_component", 1, type="ChatOutput")
RUN = call("run_flow", 2, input="hello")


async def stored(live: Live, flow: JsonObject) -> str:
    return (await live.client.post(FLOWS, json=flow)).json()["id"]


@pytest.mark.anyio
async def test_the_changes_of_a_turn_become_one_revision_of_the_stored_flow(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    second = call("add_component", 2, type="ChatOutput")
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [ADD], [second], "Added both."))) as live:
        flow_id = await stored(live, echo)
        data = (await events(live.client, input_value="Add both", flow_id=flow_id))[-1]["data"]
        assert (data["actions"], data["saved"], data["version"], data["flow_id"]) == (2, True, 2, flow_id)
        kept = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
    assert (kept["version"], kept["node_count"]) == (2, 4)
    assert kept["flow"] == data["flow"]


@pytest.mark.anyio
async def test_the_answer_names_what_waited_and_was_put_aside(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    rename = call("configure_component", 1, component_id=node_id(canvas, "ChatOutput"), values={"sender_name": "Ada"})
    other = '{"intent": "build_flow", "english": "", "language": "de", "reply": "other"}'
    model = ScriptedModel("build_flow", [rename], other, [call("add_component", 2, type="TextInput")], "Fertig.")
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Call the bot Ada", session_id="s", flow=canvas.to_json())
        assert asked[-1]["data"]["approvals"]
        request = {"input_value": "Lieber ein Textfeld dazu", "session_id": "s", "flow": canvas.to_json()}
        data = (await events(live.client, **request))[-1]["data"]
    told = "Fertig.\n\nNicht getan, weil du nicht geantwortet hast (edit): "
    assert data["result"].startswith(told)
    assert "'AI' -> 'Ada'" in data["result"]


@pytest.mark.anyio
async def test_a_turn_that_changes_nothing_makes_no_revision(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [RUN], "Ran it."))) as live:
        flow_id = await stored(live, echo)
        data = (await events(live.client, input_value="Run it", flow_id=flow_id))[-1]["data"]
        assert (data["saved"], data["version"]) == (True, 1)
        assert (await live.client.get(f"{FLOWS}/{flow_id}")).json()["version"] == 1


@pytest.mark.anyio
async def test_someone_elses_change_is_merged_with_those_of_a_turn(catalogue: Catalogue, echo: JsonObject) -> None:
    blocked = ScriptedModel("build_flow", [ADD], "Done.", blocks_at=2)
    theirs = {**echo, "name": "Theirs"}
    async with serving(assistant(catalogue, blocked)) as live:
        flow_id = await stored(live, echo)
        async with live.client.stream("POST", STREAM, json={"input_value": "Add", "flow_id": flow_id}) as response:
            await blocked.blocked.wait()
            await live.client.put(f"{FLOWS}/{flow_id}", json={"flow": theirs, "version": 1})
            blocked.released.set()
            data = [event async for event in frames(response)][-1]["data"]
        assert (data["saved"], data["version"], data["merged"]) == (True, 3, True)
        assert "clashes" not in data
        kept = (await live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"]
        assert (kept["name"], len(kept["data"]["nodes"])) == ("Theirs", 3)
        assert data["flow"] == kept, "the client sees what was stored"


@pytest.mark.anyio
async def test_what_both_changed_is_named_and_theirs_is_kept(catalogue: Catalogue) -> None:
    flow = flow_of(LOUDER, catalogue)
    prompt = node_id(flow, "Prompt Template")
    change = call("configure_component", 1, component_id=prompt, values={"template": "Whisper: {text}"})
    blocked = ScriptedModel("build_flow", [change], "Done.", blocks_at=2)
    theirs = configure(flow, catalogue, prompt, {"template": "Sing: {text}"}).flow
    async with serving(assistant(catalogue, blocked)) as live:
        flow_id = await stored(live, flow.to_json())
        request = {"input_value": "Whisper", "flow_id": flow_id, "apply": "always"}
        async with live.client.stream("POST", STREAM, json=request) as response:
            await blocked.blocked.wait()
            await live.client.put(f"{FLOWS}/{flow_id}", json={"flow": theirs.to_json(), "version": 1})
            blocked.released.set()
            data = [event async for event in frames(response)][-1]["data"]
        kept = (await live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"]
    assert (data["saved"], data["version"], data["clashes"]) == (False, 2, [f"{prompt}: template"])
    assert data["save_error"] == f"Someone else has changed the same; their version was kept: {prompt}: template."
    assert data["flow"] == kept == theirs.to_json()


@pytest.mark.parity("ADR-MCP-012", "flow_builder.working_flow.reset")
@pytest.mark.anyio
async def test_two_sessions_on_one_flow_both_keep_their_changes(catalogue: Catalogue, echo: JsonObject) -> None:
    first = ScriptedModel("build_flow", [ADD], "Done.", "build_flow", [ADD_OUTPUT], "Done.", blocks_at=2)
    async with serving(assistant(catalogue, first)) as live:
        flow_id = await stored(live, echo)
        one: dict[str, object] = {"input_value": "Add an input", "flow_id": flow_id, "session_id": "one"}
        async with live.client.stream("POST", STREAM, json=one) as response:
            await first.blocked.wait()
            first.released.set()
            ended = [event async for event in frames(response)][-1]["data"]
        two = (await events(live.client, input_value="Add an output", flow_id=flow_id, session_id="two"))[-1]["data"]
        kept = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
    assert (ended["saved"], two["saved"], kept["version"], kept["node_count"]) == (True, True, 3, 4)


@pytest.mark.anyio
async def test_a_second_message_waits_its_turn_and_sees_what_the_first_did(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    model = ScriptedModel("build_flow", [ADD], "One.", "build_flow", [ADD_OUTPUT], "Two.", blocks_at=2)
    async with serving(assistant(catalogue, model)) as live:
        request: dict[str, object] = {"flow_id": await stored(live, echo), "session_id": "s"}
        async with live.client.stream("POST", STREAM, json={**request, "input_value": "Add an input"}) as first:
            await model.blocked.wait()
            async with live.client.stream("POST", STREAM, json={**request, "input_value": "Add an output"}) as second:
                seen = frames(second)
                waiting = [await anext(seen), await anext(seen)][-1]
                model.released.set()
                one = [event async for event in frames(first)][-1]["data"]
                two = [event async for event in seen][-1]["data"]
    assert waiting["message"] == "Waiting for the message before this one..."
    assert [(data["result"], data["version"], data["saved"]) for data in (one, two)] == [
        ("One.", 2, True),
        ("Two.", 3, True),
    ]
    assert [len(data["flow"]["data"]["nodes"]) for data in (one, two)] == [3, 4]


@pytest.mark.anyio
async def test_a_flow_that_was_removed_meanwhile_is_not_made_again(catalogue: Catalogue, echo: JsonObject) -> None:
    blocked = ScriptedModel("build_flow", [ADD], "Done.", blocks_at=2)
    async with serving(assistant(catalogue, blocked)) as live:
        flow_id = await stored(live, echo)
        async with live.client.stream("POST", STREAM, json={"input_value": "Add", "flow_id": flow_id}) as response:
            await blocked.blocked.wait()
            await live.client.delete(f"{FLOWS}/{flow_id}")
            blocked.released.set()
            data = [event async for event in frames(response)][-1]["data"]
        assert (data["saved"], data["version"]) == (False, None)
        assert (await live.client.get(FLOWS)).json()["total"] == 0


@pytest.mark.anyio
@pytest.mark.parametrize("leaves", ["client", "server"])
async def test_changes_that_were_shown_are_saved_when_someone_leaves(
    leaves: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(hangs=True)
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [ADD], [RUN], "Done."), runner)) as live:
        flow_id = await stored(live, echo)
        request: dict[str, object] = {"input_value": "Add one and run", "flow_id": flow_id}
        if leaves == "client":
            await leaving(live, STREAM, request, runner.running)
            with anyio.fail_after(10):
                await runner.cancelled.wait()
            live.server.stop()
        else:
            async with live.client.stream("POST", STREAM, json=request) as response:
                await runner.running.wait()
                live.server.stop()
                last = [event async for event in frames(response)][-1]
            assert (last["event"], last["saved"], last["version"]) == ("cancelled", True, 2)
        await live.task
    database = Database(ServerSettings().database_url)
    kept = await SqlFlowStore(database, "local").get(flow_id)
    await database.aclose()
    assert (kept.entry.version, kept.entry.node_count) == (2, 3)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("provider", "name", "wanted"),
    [
        (None, None, None),
        ("", " ", None),
        ("anthropic", None, "anthropic"),
        ("Anthropic", "claude-opus-5-5", "anthropic:claude-opus-5-5"),
        (None, "claude-opus-5-5", "anthropic:claude-opus-5-5"),
        (None, "openai:gpt-6-luna", "openai:gpt-6-luna"),
        (None, "qwen3:8b", "anthropic:qwen3:8b"),
        ("ollama", "qwen3:8b", "ollama:qwen3:8b"),
        ("demo", None, "demo"),
        ("demo", "demo", "demo"),
        (None, "demo", "demo"),
    ],
)
async def test_provider_and_name_become_one_model(
    provider: str | None, name: str | None, wanted: str | None, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert await wanted_model(assistant(catalogue), provider, name) == wanted


@pytest.mark.anyio
async def test_a_name_alone_means_nothing_without_a_provider(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ApiError) as refused:
        await wanted_model(assistant(catalogue), None, "gpt-6-luna")
    assert refused.value.code == "no_provider"
    monkeypatch.setenv("WIREWRIGHT_MODEL", "openai")
    with pytest.raises(ModelChoiceError):
        await wanted_model(assistant(catalogue), None, "gpt-6-luna")
