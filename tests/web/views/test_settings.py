"""Settings: a provider is tested, variables are kept and deleted, and files are downloaded and deleted."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio


async def test_a_provider_is_tested_and_says_why_it_does_not_answer(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        key = {"values": {"GROQ_API_KEY": "gsk-a-key-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/groq", json=key)).raise_for_status()
        answers = iter(
            [
                {"ok": False, "model": "groq:a", "error": {"message": "The key was refused."}},
                {"ok": True, "model": "groq:a", "answered_by": "groq:a"},
            ]
        )
        await page.route(
            "**/api/v1/models/test", lambda route: route.fulfill(json={"models": [next(answers)]})
        )  # no test asks a real model
        await page.goto(f"{look.base}/#/providers")
        card = page.locator("li.card", has_text="Groq")
        for told in ("The key was refused.", "groq:a answers."):
            await card.get_by_role("button", name="Test: Groq").click()
            await expect(card.get_by_role("status")).to_have_text(told)


async def test_a_variable_is_kept_not_shown_and_deleted(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/variables")
        await page.get_by_label("Name", exact=True).fill("SEARCH_KEY")
        await expect(page.get_by_label("Value")).to_have_attribute("type", "password")
        await page.get_by_label("Value").fill("a-value-of-this-test")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".lines code")).to_have_text(["SEARCH_KEY"])
        assert "a-value-of-this-test" not in await page.content()
        await page.get_by_role("button", name="Delete: SEARCH_KEY").click()  # and the question is dismissed
        await expect(page.locator(".lines code")).to_have_text(["SEARCH_KEY"])
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Delete: SEARCH_KEY").click()
        await expect(page.get_by_text("No variables yet.")).to_be_visible()
        assert (await look.live.client.get("/api/v1/variables")).json()["variables"] == []


async def test_a_file_is_downloaded_and_deleted(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await look.live.client.post("/api/v1/files", files={"file": ("hours.txt", b"nine to five")})
        await page.goto(f"{look.base}/#/files")
        async with page.expect_download() as downloading:
            await page.get_by_role("link", name="hours.txt").click()
        assert (await (await downloading.value).path()).read_text() == "nine to five"
        page.once("dialog", lambda dialog: dialog.dismiss())
        await page.get_by_role("button", name="Delete: hours.txt").click()
        assert [one["path"] for one in (await look.live.client.get("/api/v1/files")).json()["files"]] == ["hours.txt"]
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Delete: hours.txt").click()
        await expect(page.get_by_text("No files yet.")).to_be_visible()
        assert (await look.live.client.get("/api/v1/files")).json()["files"] == []
