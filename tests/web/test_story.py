"""A person without a manual: from the printed link to a flow that runs, and is found again."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from pydantic_ai import ModelMessage
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import call
from flows.catalogue import Catalogue
from scripts.page import ROOT
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import Reply, ScriptedModel, Step, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio
PICTURE = ROOT / "docs" / "images" / "page.png"
"""The picture in the README; `--update-surfaces` makes it again."""


BY_HAND = {"input_value": "good morning", "sender_name": "Guest"}
"""What is written into the chat input by hand."""


def texts_of(flow: Any) -> dict[str, Any]:
    """The texts of the chat input in a flow's document."""
    [template] = [
        one["data"]["node"]["template"] for one in flow["data"]["nodes"] if one["data"]["type"] == "ChatInput"
    ]
    return {name: template[name]["value"] for name in BY_HAND}


def texts(number: int, text: str) -> Step:
    """The assistant sets the text of the chat input, whatever its id is."""

    def reply(messages: list[ModelMessage], _: AgentInfo) -> Reply:
        found = re.search(r"ChatInput-\w+", str(messages))
        assert found is not None
        return [call("configure_component", number, component_id=found[0], values={"input_value": text})]

    return reply


async def test_a_flow_is_asked_for_accepted_edited_run_undone_exported_and_found_again(
    browser: Browser, catalogue: Catalogue, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    script = (
        "build_flow",
        [call("build_flow", 1, spec=ECHO)],
        "I built an echo.",
        *("build_flow", texts(2, "good evening"), "It says good evening now."),
        *("build_flow", texts(3, "good night"), "It says good night now."),
        "question",
        "The office opens at nine.",
    )
    model, runner = ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 3)
    who = assistant(catalogue, model, runner)
    async with looking(browser, who) as look:
        page = look.page
        await page.get_by_role("button", name="New flow").click()
        message = page.get_by_role("textbox", name="Message to the assistant")
        await message.press_sequentially("Build an echo")
        await message.press("Enter")
        await page.get_by_role("log").and_(page.locator("[aria-busy=false]")).wait_for()
        card = page.get_by_role("region", name="Proposed flow: Echo")
        await expect(card).to_contain_text("Chat Input")
        await expect(page.locator(".react-flow__node:not(.ghost)")).to_have_count(0)
        await expect(page.locator(".react-flow__node.ghost")).to_have_count(2)

        await card.get_by_role("button", name="Put on the canvas").click()
        nodes = page.locator(".react-flow__node:not(.ghost)")
        await expect(nodes).to_have_count(2)
        await expect(card).to_contain_text("Approved")
        await expect(page.locator(".react-flow__edge")).to_have_count(1)

        chat = page.get_by_role("article", name="Chat Input")
        await look.ask("Set the text to good evening")
        await expect(chat.get_by_label("Input Text")).to_have_value("good evening")
        await expect(page.get_by_role("button", name="Set input_value of Chat Input")).to_be_visible()
        await chat.get_by_label("Input Text").fill("good morning")
        await chat.get_by_role("button", name=re.compile("more field")).click()
        await chat.get_by_label("Sender Name").fill("Guest")
        await expect(page.locator(".saving")).to_have_text("Saved")
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        assert texts_of((await look.live.client.get(f"{FLOWS}/{flow['id']}")).json()["flow"]) == BY_HAND

        await look.ask("Say good night instead")
        change = page.get_by_role("region", name="Change")
        await expect(change.locator("del")).to_have_text("good morning")
        await change.get_by_role("button", name="Approve").click()
        await expect(chat.get_by_label("Input Text")).to_have_value("good night")
        await page.get_by_role("log").and_(page.locator("[aria-busy=false]")).wait_for()
        await page.get_by_role("button", name="Undo").click()
        await expect(chat.get_by_label("Input Text")).to_have_value("good morning")
        await expect(page.locator(".saving")).to_have_text("Saved")

        hours = tmp_path / "hours.txt"
        hours.write_text("The office opens at nine.")
        await page.locator("input[type=file]").set_input_files(hours)
        await expect(page.locator(".composer .chips")).to_contain_text("hours.txt")
        await look.ask("When does the office open?")
        await expect(page.get_by_role("log")).to_contain_text("The office opens at nine.")
        assert "hours.txt" in model.prompts[-1], "the file goes along"

        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("textbox", name="Input of the run").fill("hello")
        await page.get_by_role("textbox", name="Input of the run").press("Enter")
        await expect(page.get_by_role("log", name="Try the flow").locator(".markdown")).to_contain_text("hello")
        await page.get_by_role("tab", name="Assistant").click()
        if request.config.getoption("--update-surfaces"):
            await page.locator(".react-flow__controls-fitview").click()
            await page.wait_for_timeout(500)
            await page.screenshot(path=PICTURE)
        assert PICTURE.stat().st_size < 200_000

        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Export").click()
        file = tmp_path / "exported.json"
        await (await downloading.value).save_as(file)
        exported = json.loads(file.read_text())
        assert len(exported["data"]["nodes"]) == 2
        assert len(exported["data"]["edges"]) == 1
        assert texts_of(exported) == BY_HAND, "what was undone is not in it, and what was written by hand is"

        await page.reload()
        await expect(nodes).to_have_count(2)
        await expect(page.locator(".react-flow__edge")).to_have_count(1)
        await expect(chat.get_by_label("Input Text")).to_have_value("good morning")
        await expect(page.get_by_role("log")).to_contain_text("Build an echo")
        await expect(page.get_by_role("log")).to_contain_text("I built an echo.")
        await page.get_by_role("link", name="All flows").click()
        await page.get_by_role("link", name=re.compile("Echo|Untitled")).click()
        await expect(nodes).to_have_count(2)
        await expect(page.get_by_role("log")).to_contain_text("The office opens at nine.")
        assert PICTURE.relative_to(ROOT).as_posix() in (ROOT / "README.md").read_text()
