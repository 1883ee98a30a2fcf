"""A phone shows the canvas or the panel, and turns to the one that what was done concerns."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, empty

pytestmark = pytest.mark.anyio


async def test_a_flow_is_asked_for_seen_and_tried_on_a_phone(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who, size={"width": 390, "height": 800}) as look:
        page = look.page
        await empty(look)
        canvas, panel = page.locator(".react-flow__pane"), page.get_by_role("tabpanel")
        await expect(panel).to_be_visible()
        await expect(canvas).to_be_hidden()
        await look.ask("Build an echo")
        await page.get_by_role("button", name="Put on the canvas").click()
        await expect(canvas).to_be_visible()
        await expect(panel).to_be_hidden()
        await expect(page.get_by_role("article", name="Chat Input")).to_be_in_viewport()
        sides = page.get_by_role("navigation", name="Shown")
        await expect(sides.get_by_role("button", name="Canvas")).to_have_attribute("aria-pressed", "true")
        await sides.get_by_role("button", name="Assistant").press("Enter")
        await expect(page.get_by_role("article", name="Chat Input")).to_be_hidden()
        await page.get_by_role("tab", name="Try the flow").click()
        box = page.get_by_role("textbox", name="Input of the run")
        await box.fill("hello")
        await box.press("Enter")
        await expect(page.get_by_role("log", name="Try the flow").locator(".markdown")).to_have_text("hello")
        await page.reload()
        await expect(panel).to_be_visible()
        await sides.get_by_role("button", name="Canvas").click()
        await expect(page.get_by_role("article", name="Chat Input")).to_be_in_viewport()


@pytest.mark.parity("ADR-004", "ADR-009", "base-term-floating-panel")
async def test_a_wide_screen_shows_both_side_by_side(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await empty(look)
        canvas, panel = look.page.locator(".canvas"), look.page.get_by_role("complementary", name="Assistant")
        left, right = await canvas.bounding_box(), await panel.bounding_box()
        assert left is not None
        assert right is not None
        assert left["x"] + left["width"] <= right["x"], "nothing floats over the canvas"
        assert await panel.evaluate("(one) => getComputedStyle(one).transitionDuration") == "0s"
        await expect(look.page.locator(".react-flow__pane")).to_be_visible()
        await expect(look.page.get_by_role("tabpanel")).to_be_visible()
        await expect(look.page.get_by_role("navigation", name="Shown")).to_have_count(0)
