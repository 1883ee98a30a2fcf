"""What is wrong with a flow stands on its component, with a way to have it mended."""

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import node
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
