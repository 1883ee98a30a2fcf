"""Signing in by a token and out again, what the browser's tabs are called, and what a browser may have stored."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.conftest import looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio
BROKEN = """() => {
  for (const key of ["inputs", "turn", "language", "sessions", "tried", "begun", "models", "model", "shortcut"])
    localStorage[`wirewright.${key}`] = "5";
}"""


async def test_a_wrong_token_is_said_to_be_wrong_and_a_right_one_signs_in(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/settings")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Wirewright", exact=True)).to_be_visible()
        await page.reload()
        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("This token is unknown, revoked or expired.")
        await page.get_by_label("Token").fill(look.live.client.headers["Authorization"].removeprefix("Bearer "))
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        assert all("401" in problem or "403" in problem for problem in look.problems)
        look.problems.clear()


async def test_who_signs_out_leaves_no_messages_behind(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        await empty(look)
        await look.ask("Which of us?")
        assert "Which of us?" in str(await look.page.evaluate("JSON.stringify({...localStorage})"))
        await look.page.goto(f"{look.base}/#/settings")
        await look.page.get_by_role("button", name="Sign out").click()
        await expect(look.page.get_by_label("Token")).to_be_visible()
        assert "Which of us?" not in str(await look.page.evaluate("JSON.stringify({...localStorage})"))


async def test_tabs_are_called_after_what_they_show(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await expect(look.page).to_have_title("Flows – Wirewright")
        await empty(look)
        await expect(look.page).to_have_title("Untitled flow – Wirewright")
        await look.page.goto(f"{look.base}/#/files")
        await expect(look.page).to_have_title("Files – Wirewright")


async def test_whatever_a_browser_has_stored_messages_are_sent(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        await look.page.evaluate(BROKEN)
        await look.page.reload()
        await empty(look)
        await look.ask("Which?")
        await expect(look.page.get_by_text("One.")).to_be_visible()
        await look.page.reload()
        await expect(look.page.get_by_text("One.")).to_be_visible()
