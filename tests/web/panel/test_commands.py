"""Commands of the message field, and the choice of a model."""

from typing import Any

import pytest
from playwright.async_api import Browser, Request, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, built, empty

pytestmark = pytest.mark.anyio


async def test_a_command_is_completed_by_keyboard_and_help_is_the_pages_own(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel()
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.press_sequentially("/h")
        await expect(look.page.get_by_role("option")).to_have_text(["/help What can be written here"])
        await box.press("Tab")
        await expect(box).to_have_value("/help")
        await box.press("Enter")
        await expect(look.page.get_by_role("log")).to_contain_text("@ names a component")
        await expect(look.page.locator(".message.user")).to_have_count(0)
        assert model.requests == [], "nothing was asked of the assistant"


async def test_undo_and_redo_take_back_the_last_change_and_make_it_again(
    browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        await built(look)
        nodes = look.page.locator(".react-flow__node:not(.ghost)")
        for command, count in (("/undo", 0), ("/redo", 2)):
            await look.ask(command)
            await expect(nodes).to_have_count(count)
            await expect(look.page.locator(".saving")).to_have_text("Saved")


async def test_the_model_that_is_chosen_answers(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        page = look.page
        key = {"values": {"OPENAI_API_KEY": "sk-a-key-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/openai", json=key)).raise_for_status()
        await page.reload()
        await empty(look)
        sent: list[tuple[str, str]] = []

        def note(request: Request) -> None:
            if request.url.endswith("/assist/stream"):
                body: Any = request.post_data_json
                sent.append((body["provider"], body["model_name"]))

        page.on("request", note)
        picker = page.get_by_role("combobox", name="Model")
        values = await picker.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
        last = [value for value in values if ":" in value][-1]
        await picker.select_option(last)
        await look.ask("Which?")
        assert ":".join(sent[0]) == last


async def test_model_lists_what_is_set_up_takes_one_and_goes_back(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel()
    async with looking(browser, assistant(catalogue, model)) as look:
        page = look.page
        key = {"values": {"GROQ_API_KEY": "gsk-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/groq", json=key)).raise_for_status()
        await page.reload()
        await empty(look)
        box, log = page.get_by_role("textbox", name="Message to the assistant"), page.get_by_role("log")
        picker = page.get_by_role("combobox", name="Model")
        await box.press_sequentially("/mo")
        await box.press("Tab")
        await expect(box).to_have_value("/model ")
        await expect(page.get_by_role("option", name="default")).to_have_count(2)  # in both lists
        await box.press_sequentially("oss-20")
        await expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(1)
        await box.press("Enter")
        await expect(box).to_have_value("/model groq:openai/gpt-oss-20b")
        await box.press("Enter")
        await expect(log).to_contain_text("groq:openai/gpt-oss-20b answers from now on.")
        await expect(picker).to_have_value("groq:openai/gpt-oss-20b")
        await box.fill("/model")
        await box.press("Enter")
        await expect(log).to_contain_text("groq:openai/gpt-oss-20b answers. Write /model and a name")
        for name in ("nobody:knows", "mistral:mistral-small-latest"):
            await box.fill(f"/model {name}")
            await box.press("Enter")
            await expect(log).to_contain_text(f"No model that is set up is called {name}.")
            await expect(picker).to_have_value("groq:openai/gpt-oss-20b")
        await box.fill("/model default")
        await box.press("Enter")
        await expect(picker).to_have_value("")
        await expect(page.locator(".message.user")).to_have_count(0)
        assert model.requests == [], "nothing was asked of the assistant"


async def test_the_model_of_the_command_is_asked_and_a_message_that_begins_alike_is_one(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "A car."))) as look:
        page = look.page
        key = {"values": {"GROQ_API_KEY": "gsk-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/groq", json=key)).raise_for_status()
        await page.reload()
        await empty(look)
        box = page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("/model groq:brand-new")
        await box.press("Enter")
        await box.fill("/model of a car?")
        async with page.expect_request("**/assist/stream") as asked:
            await box.press("Enter")
        body: Any = (await asked.value).post_data_json
        assert (body["provider"], body["model_name"]) == ("groq", "brand-new")
        assert body["input_value"] == "/model of a car?"
