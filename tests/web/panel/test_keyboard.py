"""Where the keyboard and the view are in the panel: at the end of what is said, and never lost."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, empty, proposed

pytestmark = pytest.mark.anyio
WATCHED = """() => {
  window.removed = [];
  const note = (changes) => {
    for (const change of changes) window.removed.push(...[...change.removedNodes].map((node) => node.textContent));
  };
  new MutationObserver(note).observe(document.querySelector("[role=log]"), { childList: true, subtree: true });
}"""
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


async def test_a_component_is_found_and_added_by_the_keyboard(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await empty(look)
        await page.get_by_role("button", name="Add component").press("Enter")
        search = page.get_by_role("dialog").get_by_role("searchbox")
        await expect(search).to_be_focused()
        await search.press_sequentially("chat input")
        first = page.get_by_role("dialog").locator(".choices button").first
        await expect(first).to_contain_text("Chat Input")
        await search.press("ArrowDown")
        await expect(first).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(page.get_by_role("dialog").locator(".choices button").nth(1)).to_be_focused()
        await search.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("article", name="Chat Input")).to_be_visible()


async def test_an_answer_that_grows_is_drawn_anew_only_at_its_end(browser: Browser, catalogue: Catalogue) -> None:
    long = "\n\n".join(f"Paragraph {number} of **many**." for number in range(400))
    async with looking(browser, assistant(catalogue, ScriptedModel("question", long))) as look:
        page = look.page
        await empty(look)
        await page.evaluate(WATCHED)
        await look.ask("Tell me much.")
        await expect(page.get_by_text("Paragraph 399 of many.")).to_be_visible()
        assert await page.locator(".markdown p").count() >= 400
        finished = [text for text in await page.evaluate("() => window.removed") if text.startswith("Paragraph 1 of")]
        assert len(finished) <= 1, "plain words while the renderer was loaded, at most"


async def test_a_block_without_end_is_shown_as_it_is_written(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "**" + "word " * 8_000))) as look:
        await empty(look)
        await look.ask("Tell me much.")
        await expect(look.page.locator(".as-written")).to_have_count(1)
        await expect(look.page.get_by_role("log")).to_contain_text("**word")
