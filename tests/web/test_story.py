"""A person without a manual: from the printed link to a flow that runs on the engine, and is found again."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from pydantic_ai import ModelMessage
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.runner import Runner
from scripts.page import ROOT
from tests.server.live import FLOWS
from tests.shared.flow_texts import LOUDER
from tests.shared.scripted_assistant import Reply, ScriptedModel, Step, assistant
from tests.web.conftest import looking

pytestmark = [pytest.mark.anyio, pytest.mark.engine]
IMAGES = ROOT / "docs" / "images"
PICTURES = [IMAGES / "page.png", IMAGES / "try.png"]
"""The pictures of the README and the manual; `--update-surfaces` makes them again."""
HOURS = "The office opens at nine."
BY_HAND = {"Prompt Template": ("template", "Sing it: {text}"), "ChatInput": ("sender_name", "Guest")}
"""The fields that are written by hand, by type of component."""


def written(flow: Any) -> dict[str, tuple[str, str]]:
    """What a flow's document has in those fields."""
    found = {one["data"]["type"]: one["data"]["node"]["template"] for one in flow["data"]["nodes"]}
    return {kind: (name, found[kind][name]["value"]) for kind, (name, _) in BY_HAND.items()}


def template(number: int, text: str) -> Step:
    """The assistant sets the prompt's template, whatever the prompt's id is."""

    def reply(messages: list[ModelMessage], _: AgentInfo) -> Reply:
        found = re.search(r"Prompt( Template)?-\w+", str(messages))
        assert found is not None
        return [call("configure_component", number, component_id=found[0], values={"template": text})]

    return reply


def hours(messages: list[ModelMessage], _: AgentInfo) -> Reply:
    """The assistant says what stands in the attached file, if it got it."""
    return HOURS if HOURS in str(messages[-1]) else "I have no such file."


async def shown(page: Page, picture: Path) -> None:
    """Draw one of the pictures again."""
    await page.locator(".react-flow__controls-fitview").click()
    await page.wait_for_timeout(500)
    await page.screenshot(path=picture)


async def test_a_flow_is_asked_for_accepted_edited_run_undone_exported_and_found_again(
    browser: Browser, catalogue: Catalogue, engine: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    update = request.config.getoption("--update-surfaces")
    script = (
        "build_flow",
        [call("build_flow", 1, spec=LOUDER)],
        "I built a flow that says it louder.",
        *("build_flow", template(2, "Shout it: {text}"), "It shouts now."),
        *("build_flow", template(3, "Whisper it softly: {text}"), "It whispers now."),
        *("question", [call("read_file", 4, path="hours.txt")], hours),
    )
    async with looking(browser, assistant(catalogue, ScriptedModel(*script), engine)) as look:
        page = look.page
        await page.get_by_role("button", name="New flow").click()
        message = page.get_by_role("textbox", name="Message to the assistant")
        await message.press_sequentially("Build a flow that says it louder")
        await message.press("Enter")
        await page.get_by_role("log").and_(page.locator("[aria-busy=false]")).wait_for()
        card = page.get_by_role("region", name="Proposed flow: Louder")
        await expect(card).to_contain_text("Chat · Prompt · Answer")
        await expect(page.get_by_role("log")).to_contain_text("Say it louder: hello")  # from its trial run
        await expect(page.locator(".react-flow__node:not(.ghost)")).to_have_count(0)
        await expect(page.locator(".react-flow__node.ghost")).to_have_count(3)

        await card.get_by_role("button", name="Put on the canvas").click()
        nodes = page.locator(".react-flow__node:not(.ghost)")
        await expect(nodes).to_have_count(3)
        await expect(card).to_contain_text("Approved")
        await expect(page.locator(".react-flow__edge")).to_have_count(2)

        prompt = page.get_by_role("article", name="Prompt")
        field = prompt.get_by_label("Template")
        await look.ask("Let it shout")
        change = page.get_by_role("region", name="Change")
        await expect(change.locator("ins")).to_have_text("Shout it: {text}")
        await change.get_by_role("button", name="Approve").click()
        await expect(field).to_have_value("Shout it: {text}")
        await expect(page.get_by_role("button", name="Set template of Prompt")).to_be_visible()
        await field.fill("Sing it: {text}")
        chat = page.get_by_role("article", name="Chat")
        await chat.get_by_role("button", name=re.compile("more field")).click()
        await chat.get_by_label("Sender Name").fill("Guest")
        await expect(page.locator(".saving")).to_have_text("Saved")
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        stored = (await look.live.client.get(f"{FLOWS}/{flow['id']}")).json()["flow"]
        assert written(stored) == BY_HAND

        await look.ask("Let it whisper instead")
        await expect(change.last.locator("del")).to_have_text("Sing it: {text}")
        if update:
            await shown(page, PICTURES[0])
        await change.last.get_by_role("button", name="Approve").click()
        await expect(field).to_have_value("Whisper it softly: {text}")
        await page.get_by_role("log").and_(page.locator("[aria-busy=false]")).wait_for()
        await page.get_by_role("button", name="Undo").click()
        await expect(field).to_have_value("Sing it: {text}")
        await expect(page.locator(".saving")).to_have_text("Saved")

        file = tmp_path / "hours.txt"
        file.write_text(HOURS)
        await page.locator("input[type=file]").set_input_files(file)
        await expect(page.locator(".composer .chips")).to_contain_text("hours.txt")
        await look.ask("When does the office open?")
        await expect(page.get_by_role("log")).to_contain_text(HOURS)

        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("textbox", name="Input of the run").fill("hello")
        await page.get_by_role("textbox", name="Input of the run").press("Enter")
        said = page.get_by_role("log", name="Try the flow").locator(".markdown")
        await expect(said).to_contain_text("Sing it: hello", timeout=30_000)
        if update:
            await shown(page, PICTURES[1])
        await page.get_by_role("tab", name="Assistant").click()
        assert all(picture.stat().st_size < 200_000 for picture in PICTURES)

        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Export").click()
        exported = tmp_path / "exported.json"
        await (await downloading.value).save_as(exported)
        document = json.loads(exported.read_text())
        assert written(document) == BY_HAND, "what was undone is not in it, and what was written by hand is"
        assert (len(document["data"]["nodes"]), len(document["data"]["edges"])) == (3, 2)

        await page.reload()
        await expect(nodes).to_have_count(3)
        await expect(field).to_have_value("Sing it: {text}")
        await expect(page.get_by_role("log")).to_contain_text("Let it whisper instead")
        await expect(page.get_by_role("log")).to_contain_text("I built a flow that says it louder.")
        await page.get_by_role("link", name="All flows").click()
        await page.get_by_role("link", name=re.compile("Louder|Untitled")).click()
        await expect(nodes).to_have_count(3)
        await expect(page.get_by_role("log")).to_contain_text(HOURS)
        manuals = (ROOT / "README.md").read_text() + (ROOT / "docs" / "page.md").read_text()
        assert all(f"images/{picture.name}" in manuals for picture in PICTURES)


async def test_a_flow_that_is_made_by_hand_runs(browser: Browser, catalogue: Catalogue, engine: Runner) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(), engine)) as look:
        page = look.page
        await page.get_by_role("button", name="New flow").click()
        for name in ("Chat Input", "Chat Output"):
            await page.get_by_role("button", name="Add component").click()
            await page.get_by_role("searchbox", name="Search").fill(name)
            await page.get_by_role("dialog").get_by_role("button", name=name).first.click()
            await expect(page.locator(".react-flow__node").filter(has_text=name)).to_be_focused()
        await page.locator(".react-flow__node").filter(has_text="Chat Input").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Connect to…").click()
        await page.get_by_role("dialog", name="Connect to…").get_by_role("button", name="Inputs").click()
        await expect(page.locator(".react-flow__edge")).to_have_count(1)
        await expect(page.locator(".saving")).to_have_text("Saved")

        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("textbox", name="Input of the run").fill("by hand")
        await page.get_by_role("textbox", name="Input of the run").press("Enter")
        said = page.get_by_role("log", name="Try the flow").locator(".markdown")
        await expect(said).to_contain_text("by hand", timeout=30_000)
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        stored = (await look.live.client.get(f"{FLOWS}/{flow['id']}")).json()["flow"]
        for node in stored["data"]["nodes"]:
            known = catalogue.get(node["data"]["type"])
            assert known is not None
            assert set(known.definition) <= set(node["data"]["node"]), "as Langflow stores it"
