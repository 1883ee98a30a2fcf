"""A session that ends in the middle of work: the work waits behind the sign-in, and goes on after it."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, node, opened, value
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio


def token_of(look: Look) -> str:
    """The server's token."""
    return look.live.client.headers["Authorization"].removeprefix("Bearer ")


async def test_what_was_written_when_the_session_ended_is_there_and_is_stored_after_signing_in(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        message = page.get_by_role("textbox", name="Message to the assistant")
        await message.fill("half a mess")
        await page.context.clear_cookies()
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("precious words")
        door = page.get_by_role("dialog", name="Sign in")
        await expect(door).to_contain_text("This browser is not signed in.")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await door.get_by_label("Token").fill(token_of(look))
        await door.get_by_role("button", name="Sign in").click()
        await expect(door).to_have_count(0)
        assert await value(look, flow, "input_value") == "precious words"
        await expect(message).to_have_value("half a mess")
        await page.get_by_role("button", name="Undo").click()
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_have_value("")
        look.problems.clear()  # the console tells of what was refused


async def test_a_message_that_was_refused_because_the_session_had_ended_is_back_in_its_field(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await opened(look, flow_with(catalogue, "ChatInput"))
        message = page.get_by_role("textbox", name="Message to the assistant")
        await page.context.clear_cookies()
        await message.fill("Make it louder")
        await message.press("Enter")
        door = page.get_by_role("dialog", name="Sign in")
        await expect(door).to_contain_text("is kept behind this")
        await door.get_by_label("Token").fill(token_of(look))
        await door.get_by_role("button", name="Sign in").click()
        await expect(door).to_have_count(0)
        await expect(message).to_have_value("Make it louder")
        await expect(page.get_by_role("log").locator(".message, article")).to_have_count(0)
        look.problems.clear()  # the console tells of what was refused


async def test_a_page_of_somebody_else_begins_anew_after_signing_in(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await page.context.clear_cookies()
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("precious words")
        door = page.get_by_role("dialog", name="Sign in")
        await expect(door).to_be_visible()
        (await look.live.client.delete(f"/api/v1/flows/{flow}")).raise_for_status()
        await door.get_by_label("Token").fill(token_of(look))
        await door.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("There is no such flow.")
        look.problems.clear()  # the console tells of what was refused


async def test_a_page_goes_on_when_its_browser_was_signed_in_in_another_tab(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await page.context.clear_cookies()
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("precious words")
        door = page.get_by_role("dialog", name="Sign in")
        await expect(door).to_be_visible()
        other = await page.context.new_page()
        await other.goto(look.live.access.link(look.base))
        await other.close()
        await page.evaluate("() => window.dispatchEvent(new Event('focus'))")
        await expect(door).to_have_count(0)
        assert await value(look, flow, "input_value") == "precious words"
        look.problems.clear()  # the console tells of what was refused
