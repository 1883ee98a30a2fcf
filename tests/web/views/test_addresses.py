"""Addresses of own servers: shown with their provider, edited, tested and deleted; a key is never shown."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio
PATH = "/api/v1/providers/openai-compatible"
ADDRESS = "http://127.0.0.1:9/v1"
OTHER = "http://127.0.0.1:10/v1"
KEY = "own-key-of-this-test-1234"
NAME = "OpenAI-compatible server"


async def test_an_address_is_shown_edited_tested_and_deleted(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        values = {"values": {"OPENAI_COMPATIBLE_BASE_URL": ADDRESS, "OPENAI_COMPATIBLE_API_KEY": KEY}}
        (await look.live.client.put(PATH, json=values)).raise_for_status()
        await page.goto(f"{look.base}/#/providers")
        card = page.locator("li.card", has_text=NAME)
        field, key = card.get_by_label("OPENAI_COMPATIBLE_BASE_URL"), card.get_by_label("OPENAI_COMPATIBLE_API_KEY")
        save = card.get_by_role("button", name=f"Save: {NAME}")
        await expect(field).to_have_value(ADDRESS)
        await expect(card.locator("dd.address")).to_have_count(0)  # it stands in its field
        await expect(key).to_have_value("")
        await expect(save).to_be_disabled()
        assert KEY not in await page.content()

        async def stored() -> object:
            providers = (await look.live.client.get("/api/v1/providers")).json()["providers"]
            variables = next(one["variables"] for one in providers if one["display_name"] == NAME)
            return next(one["address"] for one in variables if one["name"] == "OPENAI_COMPATIBLE_BASE_URL")

        await field.fill(OTHER)
        await expect(card).to_contain_text("A key goes only to the address that it was given for")
        await key.fill(KEY)
        await save.click()
        await expect(key).to_have_value("")
        await expect(field).to_have_value(OTHER)
        assert await stored() == OTHER

        await key.fill(f"{KEY}-new")
        await save.click()
        await expect(key).to_have_value("")
        await expect(field).to_have_value(OTHER)
        assert await stored() == OTHER, "a new key leaves it as it is"

        tested: list[object] = []
        await page.route(
            "**/api/v1/models/test", lambda route: route.fulfill(json={"models": [{"ok": True, "model": "m"}]})
        )
        page.on("request", lambda one: tested.append(one.post_data_json) if one.url.endswith("/models/test") else None)
        await card.get_by_label("Name of a model").fill("local-7b")
        await card.get_by_role("button", name=f"Test: {NAME}").click()
        await expect(card.get_by_role("status")).to_have_text("m answers.")
        assert tested == [{"models": ["openai-compatible:local-7b"]}]

        page.once("dialog", lambda dialog: dialog.accept())
        await card.get_by_role("button", name=f"Remove what is stored: {NAME}").click()
        await expect(field).to_have_value("")
        await expect(card).to_contain_text("Not set up")
