"""The data folder of version 0.1 under today's server: flows, conversations, keys, files and components."""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from runtime.runner import Runner
from runtime.telemetry import event_fields
from scripts.scripted_provider import Reply
from server.settings import ServerSettings
from tests.compatibility.conftest import V0_1, Provider
from tests.server.live import ASSIST, FLOWS, Live, events, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio

LOUDER = "44cdd0c5-5c15-4af6-9e1e-609a3243e597"
PAIR = "ac0fdbd1-59d3-4923-ab15-11848b1f8189"
COUNTING = "30830dce-6765-4d23-8395-aa098b9d7fa1"
EMPTY = "b9831d7a-4e24-4518-9529-2bb2feb258a8"
STORED = {LOUDER: "louder", PAIR: "pair", COUNTING: "counting", EMPTY: "empty"}
KEY = "fake-compatible-key-of-version-0.1"
SECRETS = (KEY, "sk-ant-fake-key-of-version-0.1")
PROVIDERS = "/api/v1/providers"
RESET = "/api/v1/agentic/sessions/reset"
SCRIPTED = {"provider": "openai-compatible", "model_name": "scripted"}
ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
OWN = """name: Own
nodes:
  chat: ChatInput
  swap: X9_Mixed_case
  words: WordCounter
  answer: ChatOutput
  swapped: TextOutput
edges:
  chat.message -> swap.text
  chat.message -> words.text
  words.result -> answer.input_value
  swap.result -> swapped.input_value
"""


def intent(kind: str, **mandate: list[str]) -> Reply:
    """A classification with a mandate."""
    read = {"intent": kind, "english": "", "language": "en", "model": None, "provider": None, "mandate": mandate}
    return Reply(text=json.dumps(read))


def calls(tool: str, **arguments: object) -> Reply:
    """One tool call."""
    return Reply(calls=((tool, arguments),))


async def turn(live: Live, session: str, text: str = "", **request: object) -> dict[str, Any]:
    """What a turn came to."""
    body = {"session_id": session, "input_value": text, **request}
    reply = await live.client.post(ASSIST, json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def templates(live: Live, flow_id: str) -> list[str]:
    """The texts of a stored flow's prompts."""
    flow = (await live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"]
    fields = [node["data"]["node"]["template"] for node in flow["data"]["nodes"]]
    return sorted(field["template"]["value"] for field in fields if "template" in field)


def test_what_version_0_1_wrote_is_committed_as_it_was() -> None:
    lines = (V0_1 / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    written = {path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    found = {path.relative_to(V0_1).as_posix(): path for path in V0_1.rglob("*") if path.is_file()}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()}
    assert {name: digests[name] for name in digests if name not in ("README.md", "SHA256SUMS")} == written


async def test_the_stored_flows_are_listed_and_read_with_their_versions(data: Path, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        listed = (await live.client.get(FLOWS)).json()
        read = {flow_id: await live.client.get(f"{FLOWS}/{flow_id}") for flow_id in STORED}
    assert listed["total"] == 4
    assert [
        (entry["id"], entry["name"], entry["node_count"], entry["edge_count"], entry["version"])
        for entry in listed["flows"]
    ] == [
        (EMPTY, "Empty", 0, 0, 1),
        (COUNTING, "Counting", 3, 2, 2),
        (PAIR, "Pair of greetings", 5, 4, 3),
        (LOUDER, "Prompt template", 3, 2, 3),
    ]
    assert listed["flows"][2]["updated_at"] == "2026-11-23T10:40:26.010450+00:00"
    for flow_id, name in STORED.items():
        exported = json.loads((V0_1 / "flows" / f"{name}.json").read_text(encoding="utf-8"))
        assert read[flow_id].json()["flow"] == exported
    assert read[PAIR].headers["etag"] == '"3"'


async def test_a_stored_flow_gets_its_next_version_and_a_stale_one_is_refused(data: Path, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        flow = (await live.client.get(f"{FLOWS}/{PAIR}")).json()["flow"]
        path = f"{FLOWS}/{PAIR}"
        stale = await live.client.put(path, json={"flow": flow, "version": 2})
        replaced = await live.client.put(path, json={"flow": {**flow, "name": "Three"}, "version": 3})
        removed = await live.client.delete(f"{FLOWS}/{EMPTY}")
    async with serving(assistant(catalogue)) as live:
        listed = (await live.client.get(FLOWS)).json()["flows"]
    assert (stale.status_code, replaced.status_code, removed.status_code) == (409, 200, 204)
    assert [(entry["id"], entry["version"]) for entry in listed] == [(PAIR, 4), (COUNTING, 2), (LOUDER, 3)]
    assert listed[0]["name"] == "Three"


async def test_the_last_change_of_a_conversation_is_undone(data: Path, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        assert await templates(live, LOUDER) == ["Whisper: {text}"]
        done = await turn(live, "agentic_undo", "Undo that", flow_id=LOUDER, provider="demo")
        assert await templates(live, LOUDER) == ["Say it louder: {text}"]
    assert (done["actions"], done["saved"], done["version"]) == (1, True, 4)


async def test_a_conversation_goes_on_with_its_history(data: Path, catalogue: Catalogue, provider: Provider) -> None:
    provider.replies = [intent("question"), Reply(text="It counts words.")]
    async with serving(assistant(catalogue)) as live:
        done = await turn(live, "agentic_workshop", "What did you write first?", **SCRIPTED)
    shown = json.dumps(provider.asked[-1]["messages"], ensure_ascii=False)
    assert done["result"] == "It counts words."
    assert "Write a component that counts words, and build a flow with it" in shown
    assert "For 'one two three' it says 3." in shown
    assert shown.index("Write my notes and a summary") < shown.index("What did you write first?")


async def test_an_edit_that_waits_is_approved_beside_one_that_was_approved_before(
    data: Path, catalogue: Catalogue, provider: Provider
) -> None:
    provider.replies = [Reply(text="Ich habe beide Texte geändert.")]
    request = {"session_id": "agentic_edits", "flow_id": PAIR, **SCRIPTED}
    approve = {"decision": "approve"}
    async with serving(assistant(catalogue)) as live:
        unknown = await live.client.post(ASSIST, json={**request, "approvals": {"call_9": approve}})
        answered = await live.client.post(ASSIST, json={**request, "approvals": {"call_4_0": approve}})
        done = await events(live.client, **request, approvals={"call_4_1": approve})
        assert await templates(live, PAIR) == ["Guten Tag, {name}.", "Leben Sie wohl, {name}."]
    assert [reply.json()["error"]["code"] for reply in (unknown, answered)] == ["unknown_approval", "already_answered"]
    assert [event["action"] for event in done if event["event"] == "flow_update"] == ["configure", "configure"]
    data_ = done[-1]["data"]
    assert (data_["result"], data_["actions"], data_["version"]) == ("Ich habe beide Texte geändert.", 2, 4)
    assert "approvals" not in data_


async def test_an_edit_that_waits_is_denied(data: Path, catalogue: Catalogue, provider: Provider) -> None:
    provider.replies = [Reply(text="Nur den Gruß habe ich geändert.")]
    async with serving(assistant(catalogue)) as live:
        deny = {"call_4_1": {"decision": "deny", "reason": "zu steif"}}
        done = await turn(live, "agentic_edits", flow_id=PAIR, approvals=deny, **SCRIPTED)
        assert await templates(live, PAIR) == ["Bye {name}.", "Guten Tag, {name}."]
    assert (done["actions"], done["version"]) == (1, 4)
    assert "zu steif" in str(provider.tool_results())


async def test_a_plan_that_waits_is_carried_out(data: Path, catalogue: Catalogue, provider: Provider) -> None:
    provider.replies = [calls("build_flow", spec=ECHO), Reply(text="I built it.")]
    async with serving(assistant(catalogue)) as live:
        done = await turn(live, "agentic_plan", "User approved the plan. Proceed with the build.", **SCRIPTED)
    assert (done["result"], done["proposal"]["name"]) == ("I built it.", "Echo")
    assert "1. A decision on the word *complaint*." in str(provider.asked[0]["messages"])


async def test_a_plan_that_was_dropped_waits_no_more(data: Path, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        request = {"session_id": "agentic_dropped", "approvals": {"call_27_0": {"decision": "approve"}}, **SCRIPTED}
        late = await live.client.post(ASSIST, json={**request, "provider": "demo", "model_name": None})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "nothing_pending")


async def test_the_stored_keys_are_used_and_never_shown(data: Path, catalogue: Catalogue, provider: Provider) -> None:
    provider.replies = [intent("question"), Reply(text="It takes what is typed.")]
    async with serving(assistant(catalogue)) as live:
        listed = await live.client.get(PROVIDERS)
        await turn(live, "agentic_new", "What is a chat input?", **SCRIPTED)
        await live.client.put(f"{PROVIDERS}/openrouter", json={"api_key": "sk-or-fake-key-of-today"})
        await live.client.delete(f"{PROVIDERS}/ollama")
        after = await live.client.get(PROVIDERS)
    kept = {one["name"]: one for one in listed.json()["providers"]}
    assert [name for name, one in kept.items() if one["stored"]] == ["anthropic", "ollama", "openai-compatible"]
    assert kept["anthropic"]["available"]
    assert not kept["groq"]["available"]
    sources = {one["name"]: one["source"] for one in kept["openai-compatible"]["variables"]}
    assert sources == {"OPENAI_COMPATIBLE_BASE_URL": "environment", "OPENAI_COMPATIBLE_API_KEY": "stored"}
    assert provider.keys == {f"Bearer {KEY}"}
    assert not [secret for secret in SECRETS if secret in listed.text + after.text]
    now = [one["name"] for one in after.json()["providers"] if one["stored"]]
    assert now == ["anthropic", "openrouter", "openai-compatible"]


async def test_the_users_files_are_found_read_and_changed(data: Path, catalogue: Catalogue, provider: Provider) -> None:
    summary = "reports/2026/Übersicht mit Leerzeichen.txt"
    provider.replies = [
        intent("manage_files", overwrite_files=[summary]),
        calls("glob_search", pattern="**"),
        calls("read_file", path="notes.md"),
        calls("edit_file", path=summary, old_string="Two", new_string="Three"),
        Reply(text="I changed the summary."),
    ]
    async with serving(assistant(catalogue)) as live:
        found = await events(live.client, session_id="agentic_files", input_value="Change my summary", **SCRIPTED)
    listing, notes, _ = provider.tool_results()
    assert [name for name in ("notes.md", "pixel.png", summary, ".components") if name in listing] == [
        "notes.md",
        "pixel.png",
        summary,
    ]
    assert "- Grüße an Ada" in notes
    assert "- 日本語" in notes
    [written] = [event for event in found if event["event"] == "file_written"]
    assert (written["path"], written["content"]) == (summary, "Three flows count words.\n")


async def test_a_reset_removes_the_components_and_leaves_everything_else(data: Path, catalogue: Catalogue) -> None:
    [folder] = (data / "users").iterdir()
    async with serving(assistant(catalogue)) as live:
        done = (await live.client.post(RESET, json={"session_id": "agentic_workshop"})).json()
    assert done["components_cleared"] == 4, "one is used by a stored flow"
    assert {path.name for path in (folder / ".components").iterdir()} == {"WordCounter.py", "ideas.txt"}
    assert {path.name for path in folder.iterdir()} == {".components", "notes.md", "pixel.png", "reports"}


@pytest.mark.engine
async def test_the_users_components_are_built_with_and_broken_ones_are_left_out(
    data: Path, catalogue: Catalogue, provider: Provider, engine: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    provider.replies = [
        intent("build_flow"),
        calls("search_components", query="Groß- und Kleinschreibung"),
        calls("build_flow", spec=OWN),
        calls("run_flow", input="One two"),
        Reply(text="I built it and ran it: it says 2."),
    ]
    async with serving(Assistant(ServerSettings(), engine, catalogue=catalogue)) as live:
        request = "Build a flow that counts my words and swaps their case, and run it with One two"
        done = await turn(live, "agentic_own", request, **SCRIPTED)
        ran = (await live.client.post(f"{FLOWS}/{COUNTING}/run", json={"input_value": "a b c d"})).json()
    assert "X9_Mixed_case" in provider.tool_results()[0]
    assert (done["run"]["ok"], done["run"]["output"]) == (True, "2")
    assert "oNE TWO" in done["run"]["outputs"].values()
    assert (ran["ok"], ran["output"]) == (True, "4")
    told = [(record.getMessage(), event_fields(record)) for record in caplog.records]
    assert ("assistant.user_component.overlay", {"entries": 2}) in told
    skipped = [fields["reason"] for name, fields in told if name == "assistant.user_component.overlay_skipped"]
    assert sorted(map(str, skipped)) == ["parse_error", "secrets", "unsafe_name"]
