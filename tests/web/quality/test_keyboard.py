"""A flow is built, connected, tried and left with the keyboard alone."""

import pytest
from playwright.async_api import Browser, Locator, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
TABS = 60
"""More stops of the Tab key than there are from anywhere to anywhere."""


async def reach(look: Look, wanted: Locator, key: str = "Tab") -> None:
    """Press Tab until something has the keyboard."""
    await expect(wanted).to_be_visible()
    for _ in range(TABS):
        if await wanted.evaluate("(one) => one === document.activeElement"):
            return
        await look.page.keyboard.press(key)
    raise AssertionError(await look.page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))


async def test_a_flow_is_made_and_tried_without_a_mouse(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, runner=StandInRunner(results=[ran("hello")]))) as look:
        page, keys = look.page, look.page.keyboard
        await reach(look, page.get_by_role("button", name="New flow"))
        await keys.press("Enter")
        await expect(page.get_by_role("textbox", name="Message to the assistant")).to_be_focused()
        for name in ("Chat Output", "Chat Input"):
            await reach(look, page.get_by_role("button", name="Add component"), "Shift+Tab")
            await keys.press("Enter")
            search = page.get_by_role("searchbox", name="Search")
            await reach(look, search)
            await keys.type(name)
            found = page.get_by_role("dialog").get_by_role("listitem").get_by_role("button", name=name)
            await expect(found.first).to_be_visible()
            await reach(look, found.first)
            await keys.press("Enter")
            await expect(
                page.locator(".react-flow__node").filter(has=page.get_by_role("article", name=name))
            ).to_be_focused()
        await reach(look, page.get_by_role("button", name="Connect to…"))
        await keys.press("Enter")
        targets = page.get_by_role("dialog").get_by_role("listitem").get_by_role("button")
        await reach(look, targets.filter(has_text="Inputs"))
        await keys.press("Enter")
        await expect(page.locator(".react-flow__edge")).to_have_count(1)
        await expect(page.get_by_role("button", name="Connect to…")).to_be_focused()
        await keys.press("Alt+A")
        await expect(page.get_by_role("textbox", name="Message to the assistant")).to_be_focused()
        await reach(look, page.get_by_role("tab", name="Assistant"), "Shift+Tab")
        await keys.press("ArrowRight")
        await expect(page.get_by_role("tab", name="Try the flow")).to_be_focused()
        await reach(look, page.get_by_role("textbox", name="Input of the run"))
        await keys.type("hello")
        await keys.press("Enter")
        await expect(page.get_by_role("log", name="Try the flow").locator(".markdown")).to_have_text("hello")
        await reach(look, page.get_by_role("link", name="All flows"), "Shift+Tab")
        await keys.press("Enter")
        await expect(page.get_by_role("heading", name="Templates")).to_be_visible()
