"""A message that is not sent yet: its words, mentions, files and selection are there again after a reload."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.canvas.conftest import chosen, flow_with, opened
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio


async def test_a_draft_with_all_that_goes_along_survives_a_reload_and_is_sent(
    browser: Browser, catalogue: Catalogue, tmp_path: Path
) -> None:
    hours = tmp_path / "hours.txt"
    hours.write_text("nine to five")
    model = ScriptedModel("question", "At nine.")
    async with looking(browser, assistant(catalogue, model)) as look:
        page = look.page
        await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await chosen(look, "Text Input")
        box = page.get_by_role("textbox", name="Message to the assistant")
        chips = page.get_by_role("list", name="Sent along")
        await page.locator(".composer input[type=file]").set_input_files(hours)
        await expect(chips).to_contain_text("hours.txt")
        await box.press_sequentially("Is it in @chat")
        await page.get_by_role("option").first.wait_for()
        await box.press("Enter")
        await page.reload()
        await expect(box).to_have_value("Is it in 'ChatInput-0'")
        await expect(chips.get_by_role("listitem")).to_have_text(["Text Input", "hours.txt"])
        await expect(page.get_by_role("toolbar", name="Selected components")).to_be_visible()
        await look.ask("Is it in 'ChatInput-0'?")
        assert "'TextInput-1'" in model.prompts[-1]
        assert "hours.txt" in model.prompts[-1]
        await page.reload()
        await expect(page.get_by_role("log")).to_contain_text("At nine.")
        await expect(box).to_have_value("")
        await expect(chips).to_have_count(0)


async def test_a_draft_survives_a_look_at_another_tab_and_belongs_to_its_flow(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        box = page.get_by_role("textbox", name="Message to the assistant")
        first = await opened(look, flow_with(catalogue, "ChatInput"))
        await box.fill("about the first")
        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("tab", name="Assistant").click()
        await expect(box).to_have_value("about the first")
        await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await expect(box).to_have_value("")
        await page.goto(f"{look.base}/#/flow/{first}")
        await expect(box).to_have_value("about the first")


async def test_what_may_hold_a_key_is_not_stored_in_the_browser(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await opened(look, flow_with(catalogue, "ChatInput"))
        box = page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("my key is sk-a1b2c3d4e5f6g7h8")
        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("tab", name="Assistant").click()
        await expect(box).to_have_value("my key is sk-a1b2c3d4e5f6g7h8")
        stored = await page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")
        assert "sk-a1b2" not in stored
        await page.reload()
        await expect(box).to_have_value("")
