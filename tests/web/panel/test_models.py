"""Choosing the model that answers: remembered, named by hand, and the demo planner among them."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.conftest import Look, looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio
NOBODY = "http://127.0.0.1:9/v1"


async def given(look: Look, provider: str, **values: str) -> None:
    """Store what a provider needs."""
    (await look.live.client.put(f"/api/v1/providers/{provider}", json={"values": values})).raise_for_status()
    await look.page.reload()


def picker(look: Look) -> Locator:
    """The list of models."""
    return look.page.get_by_role("combobox", name="Model")


async def test_a_server_that_lists_no_models_is_used_by_the_name_of_one(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/providers")
        card = page.locator("li.card", has_text="OpenAI-compatible server")
        await card.get_by_label("OPENAI_COMPATIBLE_BASE_URL").fill(NOBODY)
        await card.get_by_role("button", name="Save: OpenAI-compatible server").click()
        await expect(card).to_contain_text("Ready to use")
        await expect(card.get_by_role("button", name="Test: OpenAI-compatible server")).to_be_disabled()
        await card.get_by_label("Name of a model").fill("local-7b")
        await expect(card.get_by_role("button", name="Test: OpenAI-compatible server")).to_be_enabled()
        await card.get_by_role("button", name="Use this model: openai-compatible:local-7b").click()
        await expect(page.get_by_text("openai-compatible:local-7b answers from now on.")).to_be_visible()
        await page.goto(f"{look.base}/#/flows")
        await empty(look)
        await expect(picker(look)).to_have_value("openai-compatible:local-7b")
        box = page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Hello?")
        async with page.expect_request("**/assist/stream") as asked:
            await box.press("Enter")
        body: Any = (await asked.value).post_data_json
        assert (body["provider"], body["model_name"]) == ("openai-compatible", "local-7b")


async def test_the_chosen_model_is_remembered_and_the_default_marked(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await given(look, "groq", GROQ_API_KEY="gsk-of-this-test-1234")
        await empty(look)
        await expect(picker(look).locator("option").first).to_have_text("groq: qwen/qwen3.8-27b (default)")
        await picker(look).select_option("groq:openai/gpt-oss-20b")
        await expect(picker(look).locator("option:checked")).to_have_text("Groq: openai/gpt-oss-20b")
        await look.page.reload()
        await expect(picker(look)).to_have_value("groq:openai/gpt-oss-20b")
        await picker(look).select_option(label="Demo planner")
        await look.page.reload()
        await expect(picker(look)).to_have_value("demo")


async def test_a_model_whose_provider_is_gone_is_not_asked_for(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await given(look, "groq", GROQ_API_KEY="gsk-of-this-test-1234")
        await given(look, "mistral", MISTRAL_API_KEY="key-of-this-test-1234")
        await empty(look)
        await picker(look).select_option("mistral:mistral-small-latest")
        await look.live.client.delete("/api/v1/providers/mistral")
        await look.page.reload()
        await expect(picker(look)).to_have_value("")


async def test_a_key_that_two_providers_share_is_said_to_be_stored(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await given(look, "openai-chat", OPENAI_API_KEY="sk-of-this-test-1234")
        await look.page.goto(f"{look.base}/#/providers")
        card = look.page.locator("li.card", has=look.page.get_by_text("OpenAI", exact=True))
        await expect(card.get_by_text("OPENAI_API_KEY (stored)")).to_be_visible()
        bedrock = look.page.locator("li.card", has_text="Google")
        await expect(bedrock).to_contain_text("GOOGLE_API_KEY or GEMINI_API_KEY")


async def test_files_are_added_in_their_view_and_each_refused_one_is_named(
    browser: Browser, catalogue: Catalogue, tmp_path: Path
) -> None:
    for name in ("one.txt", "b<d.txt", "two.txt"):
        (tmp_path / name).write_text(name)
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/files")
        async with page.expect_file_chooser() as choosing:
            await page.get_by_role("button", name="Add files").click()
        await (await choosing.value).set_files([tmp_path / "b<d.txt", tmp_path / "one.txt", tmp_path / "two.txt"])
        await expect(page.get_by_role("link", name="one.txt")).to_be_visible()
        await expect(page.get_by_role("link", name="two.txt")).to_be_visible()
        await expect(page.locator(".notice")).to_contain_text("b<d.txt was not added:")
        assert all("422" in problem or "400" in problem for problem in look.problems)
        look.problems.clear()


async def test_a_page_that_is_seen_again_knows_what_was_set_up_elsewhere(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await empty(look)
        await expect(picker(look)).to_have_count(0)
        values = {"values": {"GROQ_API_KEY": "gsk-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/groq", json=values)).raise_for_status()
        await look.page.evaluate("() => window.dispatchEvent(new Event('focus'))")
        await expect(picker(look)).to_be_visible()


async def test_a_stored_address_stands_in_its_field_alone_and_labels_apart_from_their_fields(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await given(look, "openai-compatible", OPENAI_COMPATIBLE_BASE_URL=NOBODY)
        await look.page.goto(f"{look.base}/#/providers")
        card = look.page.locator("li.card", has_text="OpenAI-compatible server")
        await expect(card.get_by_label("OPENAI_COMPATIBLE_BASE_URL")).to_have_value(NOBODY)
        await expect(card.get_by_text(NOBODY)).to_have_count(0)
        gap = """(input) => { const label = input.labels[0].querySelector("span");
          return input.getBoundingClientRect().top - label.getBoundingClientRect().bottom; }"""
        other = await card.get_by_label("OPENAI_COMPATIBLE_BASE_URL").evaluate(gap)
        assert await card.get_by_label("Name of a model").evaluate(gap) == other > 0
