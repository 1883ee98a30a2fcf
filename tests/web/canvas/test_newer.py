"""An open flow that is stored elsewhere, by another tab, a command line or an assistant, is shown by itself."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.server.live import FLOWS
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, node, opened, value
from tests.web.canvas.test_conflicts import changed_elsewhere
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
FIELD = "input_value"
TOLD = "This flow was changed elsewhere."


async def seen_again(look: Look) -> None:
    """Come back to the page, as from another window."""
    await look.page.evaluate("dispatchEvent(new Event('focus'))")


async def test_a_newer_version_is_shown_when_the_page_is_seen_again(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await changed_elsewhere(look, flow, {1: "theirs"})
        await seen_again(look)
        field = node(look, "Text Input").get_by_role("textbox", name="Text")
        await expect(field).to_have_value("theirs")
        await expect(look.page.locator(".notice")).to_contain_text(TOLD)
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        await look.page.get_by_role("button", name="Undo").click()
        await expect(field).to_have_value("")
        assert await value(look, flow, FIELD, 1) == ""


async def test_a_page_that_is_seen_looks_by_itself_and_reads_only_what_is_new(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await look.page.clock.install()
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        answers: list[int] = []
        look.page.on("response", lambda one: answers.append(one.status) if one.url.endswith(flow) else None)
        async with look.page.expect_response(lambda one: one.url.endswith(flow)):
            await look.page.clock.run_for(11_000)
        assert answers == [304]
        await changed_elsewhere(look, flow, {1: "theirs"})
        await look.page.clock.run_for(11_000)
        await expect(node(look, "Text Input").get_by_role("textbox", name="Text")).to_have_value("theirs")


async def test_what_is_being_written_is_left_alone_and_brought_together(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        message = look.page.get_by_role("textbox", name="Message to the assistant")
        mine = node(look, "Chat Input").get_by_role("textbox", name="Input Text")
        await message.fill("half a mess")
        await mine.press_sequentially("good ")
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        await changed_elsewhere(look, flow, {1: "theirs"})
        await mine.press_sequentially("mor")
        await seen_again(look)
        await mine.press_sequentially("ning")
        await expect(node(look, "Text Input").get_by_role("textbox", name="Text")).to_have_value("theirs")
        await expect(mine).to_have_value("good morning")
        await expect(mine).to_be_focused()
        await expect(message).to_have_value("half a mess")
        await mine.press_sequentially("!")
        await expect(mine).to_have_value("good morning!")
        assert [await value(look, flow, FIELD, at) for at in (0, 1)] == ["good morning!", "theirs"]
        look.problems.clear()  # the console tells of the version that was refused


async def test_an_open_editor_is_not_changed_under_its_writer(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await node(look, "Chat Input").get_by_role("button", name="Larger editor").click()
        editor = look.page.get_by_role("dialog").get_by_role("textbox")
        await editor.fill("mine")
        await changed_elsewhere(look, flow, {0: "theirs"})
        await seen_again(look)
        await look.page.get_by_role("dialog").get_by_role("button", name="Apply").click()
        await expect(look.page.get_by_role("region", name="Waits for you")).to_contain_text("Someone else has changed")
        look.problems.clear()  # the console tells of the version that was refused


async def test_a_component_that_was_only_moved_elsewhere_is_shown_without_a_word(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        known: Any = (await look.live.client.get(f"{FLOWS}/{flow}")).json()
        known["flow"]["data"]["nodes"][0]["position"] = {"x": 700, "y": 300}
        sent = {"version": known["version"], "flow": known["flow"]}
        (await look.live.client.put(f"{FLOWS}/{flow}", json=sent)).raise_for_status()
        await seen_again(look)
        moved = look.page.locator(".react-flow__node[data-id=ChatInput-0]")
        await expect(moved).to_have_css("transform", "matrix(1, 0, 0, 1, 700, 300)")
        await expect(look.page.locator(".notice")).to_have_count(0)
