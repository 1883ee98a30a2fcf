"""The pages of the examples, in a real browser: each does its work with nothing but the server and its own lines."""

import re
from pathlib import Path

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.conformance.pages.conftest import PAGES, page_at
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import CHROMIUM

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
ALL = sorted(PAGES.glob("*.html"))


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.stem)
def test_a_page_is_short_and_loads_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= 60
    code = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\"'` ]+", code)) <= {"http://localhost:7878"}
    assert not re.search(r"\bimport\b|<script[^>]*\bsrc\b|<link\b", code)


def test_there_is_a_page_for_each_protocol() -> None:
    assert [page.stem for page in ALL] == ["agui", "aisdk", "mcp"]


def builder() -> ScriptedModel:
    """A model that builds a flow, and then answers a question."""
    return ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Built it.", "question", "It echoes.")


@needs_browser
@pytest.mark.anyio
async def test_over_ag_ui_a_flow_is_built_and_asked_about_before_it_is_on_the_canvas(catalogue: Catalogue) -> None:
    who = assistant(catalogue, builder(), StandInRunner(results=[ran("hi")]))
    async with page_at(who, "agui.html") as (page, _):
        await page.get_by_role("textbox", name="Message").fill("Build an echo")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("button", name="Yes").click()
        await page.get_by_role("listitem").first.wait_for()
        shown = await page.get_by_role("listitem").all_inner_texts()
        await page.get_by_role("textbox", name="Message").fill("What does it do?")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("It echoes.").wait_for()
    assert len([name for name in shown if "->" not in name]) == 2
    assert len([name for name in shown if "->" in name]) == 1


@needs_browser
@pytest.mark.anyio
async def test_over_the_ai_sdk_s_stream_a_flow_is_built_and_stored_after_a_yes(catalogue: Catalogue) -> None:
    who = assistant(catalogue, builder(), StandInRunner(results=[ran("hi")]))
    async with page_at(who, "aisdk.html") as (page, live):
        await page.get_by_role("textbox", name="Message").fill("Build an echo")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("put_flow_on_canvas: approval-requested").wait_for()
        await page.get_by_role("button", name="Yes").click()
        await page.get_by_text("put_flow_on_canvas: output-available").wait_for()
        await page.get_by_role("textbox", name="Message").fill("What does it do?")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("It echoes.").wait_for()
        [flow] = (await live.client.get(FLOWS)).json()["flows"]
    assert flow["node_count"] == 2


@needs_browser
@pytest.mark.anyio
async def test_over_the_ai_sdk_s_stream_a_no_leaves_everything_as_it_was(catalogue: Catalogue) -> None:
    who = assistant(catalogue, builder(), StandInRunner(results=[ran("hi")]))
    async with page_at(who, "aisdk.html") as (page, live):
        await page.get_by_role("textbox", name="Message").fill("Build an echo")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("button", name="No").click()
        await page.get_by_text("put_flow_on_canvas: output-denied").wait_for()
        [flow] = (await live.client.get(FLOWS)).json()["flows"]
    assert flow["node_count"] == 0


@needs_browser
@pytest.mark.anyio
async def test_over_mcp_a_text_is_changed_after_a_yes_with_other_words(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    prompt = node_id(canvas, "Prompt Template")
    async with page_at(assistant(catalogue), "mcp.html") as (page, live):
        made = (await live.client.post(FLOWS, json={"name": "F", "flow": canvas.to_json()})).json()["id"]
        await page.get_by_role("combobox", name="Tool").select_option("configure_component")
        given = f'{{"flow_id": "{made}", "component_id": "{prompt}", "values": {{"template": "Whisper: {{text}}"}}}}'
        await page.get_by_role("textbox", name="Arguments").fill(given)
        await page.get_by_role("button", name="Call").click()
        await page.locator("#questions textarea").fill("Sing: {text}")
        await page.get_by_role("button", name="Yes").click()
        await page.get_by_role("log").get_by_text("configure_component").wait_for()
        await page.get_by_role("combobox", name="Tool").select_option("delete_flow")
        await page.get_by_role("textbox", name="Arguments").fill(f'{{"flow_id": "{made}"}}')
        await page.get_by_role("button", name="Call").click()
        await page.get_by_role("button", name="No").click()
        await page.get_by_text("the user said no").wait_for()
        stored = (await live.client.get(f"{FLOWS}/{made}")).text
    assert "Sing: {text}" in stored
    assert "Whisper" not in stored


@needs_browser
@pytest.mark.anyio
async def test_over_mcp_an_error_is_shown(catalogue: Catalogue) -> None:
    async with page_at(assistant(catalogue), "mcp.html") as (page, _):
        await page.get_by_role("combobox", name="Tool").select_option("list_flows")
        await page.get_by_role("textbox", name="Arguments").fill('{"limit": 0}')
        await page.get_by_role("button", name="Call").click()
        await page.get_by_text("The arguments are wrong").wait_for()
