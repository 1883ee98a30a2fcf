"""Where the keyboard and the view are in the panel: at the end of what is said, and never lost."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, empty, proposed

pytestmark = pytest.mark.anyio
LONG = "\n\n".join(f"Line {number} of a long answer." for number in range(40))


async def test_what_is_said_comes_into_view_also_after_another_tab(browser: Browser, catalogue: Catalogue) -> None:
    script = ("question", LONG, "question", f"{LONG}\n\nThe second end.", "question", f"{LONG}\n\nThe third end.")
    async with looking(browser, assistant(catalogue, ScriptedModel(*script))) as look:
        page = look.page
        await empty(look)
        await look.ask("First?")
        await expect(page.get_by_text("Line 39 of a long answer.")).to_be_in_viewport()
        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("tab", name="Assistant").click()
        await expect(page.get_by_text("Line 39 of a long answer.")).to_be_in_viewport()
        await look.ask("Second?")
        await expect(page.get_by_text("The second end.")).to_be_in_viewport()
        await page.get_by_role("log").hover()
        await page.mouse.wheel(0, -2_000)
        await expect(page.get_by_text("The second end.")).not_to_be_in_viewport()
        await look.ask("Third?")
        await expect(page.get_by_text("The third end.")).to_be_in_viewport()


async def test_a_new_flow_waits_for_a_message(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await empty(look)
        await expect(look.page.get_by_role("textbox", name="Message to the assistant")).to_be_focused()


@pytest.mark.parametrize(("width", "place"), [(1280, ".panel .log"), (390, ".canvas")])
async def test_the_keyboard_is_not_lost_when_a_flow_is_accepted(
    width: int, place: str, browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who, size={"width": width, "height": 800}) as look:
        await proposed(look)
        button = look.page.get_by_role("button", name="Put on the canvas")
        await button.focus()
        await button.press("Enter")
        await expect(look.page.get_by_text("Approved")).to_have_count(1)
        await expect(look.page.locator(place)).to_be_focused()
