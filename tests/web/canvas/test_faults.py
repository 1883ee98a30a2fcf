"""What is wrong with a flow stands on its component, with a way to have it mended."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, node, opened, stored
from tests.web.conftest import looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio


async def test_a_fault_stands_on_its_component_and_its_button_asks_for_the_repair(
    browser: Browser, catalogue: Catalogue
) -> None:
    added = [call("add_component", 1, type="SplitText")]
    model = ScriptedModel("build_flow", added, "Added.", "question", "Connect something to it.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran()] * 4))) as look:
        await empty(look)
        await look.ask("Add a splitter")
        faults = node(look, "Split Text").locator(".faults li")
        await expect(faults).not_to_have_count(0)
        told = (await faults.first.locator("button").get_attribute("aria-label") or "").removeprefix("Fix this: ")
        assert told
        await expect(faults.first).to_contain_text(told)
        await faults.first.get_by_role("button", name="Fix this").click()
        await expect(look.page.locator(".message.user .said").last).to_have_text(f"Fix this: {told}")
        await expect(look.page.get_by_role("log")).to_contain_text("Connect something to it.")
        assert any(told in prompt for prompt in model.prompts)


@pytest.mark.parametrize("template", ["Dear {1x}", "Dear {reader"])
async def test_what_is_wrong_with_a_value_is_found_again_after_undoing_and_a_reload(
    template: str, browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "Prompt Template"))
        prompt = node(look, "Prompt Template")
        field = prompt.get_by_role("textbox", name="Template")
        await field.fill("Dear {reader}")
        await field.press("Tab")
        await expect(prompt.get_by_role("textbox", name="reader")).to_be_visible()
        await field.fill(template)
        await field.press("Tab")
        alert = prompt.get_by_role("alert")
        await expect(alert).to_have_count(1)
        told = await alert.inner_text()
        assert "Prompt Template-0" not in told, "the field has its name already"
        await page.get_by_role("button", name="Undo").click()
        await expect(field).to_have_value("Dear {reader}")
        await expect(alert).to_have_count(0)
        await page.get_by_role("button", name="Redo").click()
        await expect(field).to_have_value(template)
        await expect(alert).to_have_text(told)
        await stored(look, flow)
        await page.reload()
        await expect(field).to_have_value(template)
        await expect(alert).to_have_text(told)
        await expect(field).to_have_attribute("aria-invalid", "true")
        await page.locator(".react-flow__node").focus()
        await page.keyboard.press("Escape")
        await page.get_by_role("main", name="Canvas").focus()
        await page.keyboard.press("F8")
        await expect(page.locator(".react-flow__node")).to_be_focused()
        await field.fill("Dear {friend}")
        await field.press("Tab")
        await expect(alert).to_have_count(0)
        look.problems.clear()  # the console tells of the value that was refused


async def test_a_fault_that_came_from_elsewhere_stands_on_its_component(browser: Browser, catalogue: Catalogue) -> None:
    document: Any = flow_with(catalogue, "Prompt Template")
    document["data"]["nodes"][0]["data"]["node"]["template"]["template"]["value"] = "Dear {1x}"
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, document)
        await expect(node(look, "Prompt Template").get_by_role("alert")).to_contain_text("1x")
