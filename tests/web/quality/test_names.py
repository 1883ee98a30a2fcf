"""Names of flows, components, files and conversations: shown right, cut by letter, found and mentioned."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.canvas.conftest import chosen, flow_with, opened
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio
FAMILY = "👩‍👩‍👧‍👦"
NAMES = {
    "emoji": f"{FAMILY}Team{FAMILY}",
    "marks": "Cafe\u0301-Rechner\u0323",
    "right-to-left": "שלום-מחשבון",
    "long": f"{FAMILY * 40}Ende",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_a_component_of_any_name_is_shown_mentioned_and_chosen(
    name: str, browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow: Any = flow_with(catalogue, "ChatInput", "TextInput")
        flow["data"]["nodes"][0]["data"]["node"]["display_name"] = name
        await opened(look, flow)
        title = page.get_by_role("article", name=name, exact=True).locator("header strong")
        await expect(title).to_have_text(name)
        node = await page.locator(".react-flow__node[data-id=ChatInput-0]").bounding_box()
        header = await title.bounding_box()
        assert node is not None
        assert header is not None
        assert header["x"] + header["width"] <= node["x"] + node["width"], "it stays in its component"
        direction = await title.evaluate("(one) => getComputedStyle(one).direction")
        assert direction == ("rtl" if name == NAMES["right-to-left"] else "ltr")
        box = page.get_by_role("textbox", name="Message to the assistant")
        await box.fill(f"see @{name.upper()}")
        await expect(page.get_by_role("option")).to_have_count(1)
        await expect(page.get_by_role("option").locator("bdi")).to_have_text(name)
        await box.press("Enter")
        await expect(box).to_have_value("see 'ChatInput-0'")
        await chosen(look, name)
        await expect(page.get_by_role("list", name="Sent along")).to_contain_text(name)
        chip = await page.get_by_role("list", name="Sent along").get_by_role("listitem").bounding_box()
        panel = await page.locator(".panel").bounding_box()
        assert chip is not None
        assert panel is not None
        assert chip["x"] + chip["width"] <= panel["x"] + panel["width"], "it stays in the panel"


async def test_marks_are_found_however_they_are_encoded(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow: Any = flow_with(catalogue, "ChatInput")
        flow["name"] = "Cafe\u0301 flow"
        flow["data"]["nodes"][0]["data"]["node"]["display_name"] = "Cafe\u0301"
        await opened(look, flow)
        await page.get_by_role("textbox", name="Message to the assistant").fill("see @caf\u00e9")
        await expect(page.get_by_role("option")).to_have_count(1)
        await page.goto(f"{look.base}/#/flows")
        await page.get_by_role("searchbox", name="Search").fill("CAF\u00c9")
        await expect(page.get_by_role("link", name="Cafe\u0301 flow")).to_be_visible()


async def test_a_name_is_cut_between_letters(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "Hello."))) as look:
        page = look.page
        await opened(look, {**flow_with(catalogue, "ChatInput"), "name": FAMILY * 100})
        await expect(page).to_have_title(f"{FAMILY * 60}… – Wirewright")
        await look.ask(f"xy{FAMILY * 40}")
        await page.get_by_role("button", name="Conversations").click()
        title = await page.get_by_role("dialog").get_by_role("listitem").first.locator("strong").inner_text()
        assert title.removeprefix("xy").removesuffix("…").replace(FAMILY, "") == ""


async def test_a_file_of_any_name_is_listed_and_sent_along(browser: Browser, catalogue: Catalogue) -> None:
    names = [f"{FAMILY}.txt", "Cafe\u0301.txt", "שלום.txt", f"{'lang' * 20}.txt"]
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await opened(look, flow_with(catalogue, "ChatInput"))
        files: Any = [{"name": one, "mimeType": "text/plain", "buffer": b"x"} for one in names]
        await page.locator(".composer input[type=file]").set_input_files(files)
        chips = page.get_by_role("list", name="Sent along").get_by_role("listitem")
        await expect(chips).to_have_count(len(names))
        panel = await page.locator(".panel").bounding_box()
        assert panel is not None
        for at in range(len(names)):
            chip = await chips.nth(at).bounding_box()
            assert chip is not None
            assert chip["x"] + chip["width"] <= panel["x"] + panel["width"], names[at]
        await page.goto(f"{look.base}/#/files")
        await expect(page.locator(".lines a")).to_have_count(len(names))
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
