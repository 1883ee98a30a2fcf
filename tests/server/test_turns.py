"""Turns on stored flows: what is saved, when, and what is left alone; and the model that a request names."""

import anyio
import pytest

from agent.errors import ModelChoiceError
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database.database import Database
from server.errors import ApiError
from server.settings import ServerSettings
from server.store.sql import SqlFlowStore
from server.turns import wanted_model
from tests.scripted_assistant import ScriptedModel, assistant
from tests.server.live import FLOWS, STREAM, Live, events, frames, leaving, serving
from tests.stand_ins import StandInRunner

ADD = call("add_component", 1, type="ChatInput")
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
async def test_a_turn_that_changes_nothing_makes_no_revision(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [RUN], "Ran it."))) as live:
        flow_id = await stored(live, echo)
        data = (await events(live.client, input_value="Run it", flow_id=flow_id))[-1]["data"]
        assert (data["saved"], data["version"]) == (True, 1)
        assert (await live.client.get(f"{FLOWS}/{flow_id}")).json()["version"] == 1


@pytest.mark.anyio
async def test_someone_elses_change_is_kept_when_a_turn_ends(catalogue: Catalogue, echo: JsonObject) -> None:
    blocked = ScriptedModel("build_flow", [ADD], "Done.", blocks_at=2)
    theirs = {"name": "Theirs", "data": {"nodes": [], "edges": []}}
    async with serving(assistant(catalogue, blocked)) as live:
        flow_id = await stored(live, echo)
        async with live.client.stream("POST", STREAM, json={"input_value": "Add", "flow_id": flow_id}) as response:
            await blocked.blocked.wait()
            await live.client.put(f"{FLOWS}/{flow_id}", json={"flow": theirs, "version": 1})
            blocked.released.set()
            data = [event async for event in frames(response)][-1]["data"]
        assert (data["saved"], data["version"]) == (False, 2)
        assert "not overwritten" in data["save_error"]
        assert len(data["flow"]["data"]["nodes"]) == 3, "the turn's own result is not lost either"
        assert (await live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"] == theirs


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
def test_provider_and_name_become_one_model(
    provider: str | None, name: str | None, wanted: str | None, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert wanted_model(assistant(catalogue), provider, name) == wanted


def test_a_name_alone_means_nothing_without_a_provider(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ApiError) as refused:
        wanted_model(assistant(catalogue), None, "gpt-6-luna")
    assert refused.value.code == "no_provider"
    monkeypatch.setenv("WIREWRIGHT_MODEL", "openai")
    with pytest.raises(ModelChoiceError):
        wanted_model(assistant(catalogue), None, "gpt-6-luna")
