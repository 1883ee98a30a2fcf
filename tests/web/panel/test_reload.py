"""A reload shows what was there: questions, records, the message of a turn that goes on, and the chosen model."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, node, opened, value
from tests.web.conftest import looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio
KEY = "sk-proj-Abc123Def456Ghi789Jkl012Mno345Pqr678"


async def test_a_change_that_waits_shows_old_and_new_after_a_reload(browser: Browser, catalogue: Catalogue) -> None:
    edit = [call("configure_component", 1, component_id="ChatInput-0", values={"input_value": "new words"})]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", edit, "Changed."))) as look:
        flow: Any = flow_with(catalogue, "ChatInput")
        flow["data"]["nodes"][0]["data"]["node"]["template"]["input_value"]["value"] = "old words"
        flow_id = await opened(look, flow)
        await look.ask("Change the text")
        card = look.page.get_by_role("region", name="Change")
        bar = look.page.get_by_role("region", name="Waits for you")
        ghost = node(look, "Chat Input, would be changed")
        for reloads in (False, True):
            if reloads:
                await look.page.reload()
            await expect(card.locator("del")).to_have_text("old words")
            await expect(card.locator("ins")).to_have_text("new words")
            await expect(card).to_contain_text("Chat Input · input_value")
            await expect(bar).to_contain_text("Input Text of Chat Input would change.")
            await expect(ghost.locator(".waits ins")).to_have_text("new words")
        await bar.get_by_role("button", name="Accept the change").click()
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_have_value("new words")
        assert await value(look, flow_id, "input_value") == "new words"
        await expect(look.page.locator(".tool").filter(has_text="…")).to_have_count(0)


async def test_the_record_stands_beside_an_answer_that_claims_more_also_after_a_reload(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel("run_flow", [call("run_flow", 1, input="hello")], "It ran and said hello.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 3))) as look:
        await opened(look, flow_with(catalogue, "ChatInput", "ChatOutput"))
        await look.ask("Run it with hello")
        told = look.page.get_by_role("note", name="What was done")
        before = await told.inner_text()
        assert before
        order = "(all) => all.map((one) => one.className.split(' ').slice(0, 2).join(' '))"
        parts = look.page.locator(".message.assistant > :not(.figures)")
        shown = await parts.evaluate_all(order)
        await look.page.reload()
        await expect(told).to_have_text(before)
        assert await parts.evaluate_all(order) == shown, "and all parts stand in their order"


async def test_the_message_of_a_turn_that_goes_on_is_there_after_a_reload(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel("question", "One.", "question", "The answer.", blocks_at=3)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        await look.ask("First?")
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Second?")
        await box.press("Enter")
        await model.blocked.wait()
        await look.page.reload()
        said = look.page.locator(".message.user .said")
        await expect(said).to_have_text(["First?", "Second?"])
        model.released.set()
        await expect(look.page.get_by_role("log")).to_contain_text("The answer.")
        await expect(said).to_have_text(["First?", "Second?"])


async def test_the_chosen_model_is_still_chosen_after_a_reload(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        key = {"values": {"OPENAI_API_KEY": "sk-a-key-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/openai", json=key)).raise_for_status()
        await look.page.reload()
        await empty(look)
        picker = look.page.get_by_role("combobox", name="Model")
        values = await picker.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
        await picker.select_option(values[-1])
        await look.page.reload()
        await expect(picker).to_have_value(values[-1])


async def test_a_message_that_holds_a_key_is_not_remembered(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        await empty(look)
        await look.ask("Which?")
        await look.ask(f"Store this key: {KEY}")
        await expect(look.page.locator(".question[data-kind=secret]")).to_be_visible()
        kept = await look.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
        assert "Which?" in kept
        assert KEY not in kept


async def test_a_message_that_never_arrived_is_sent_once_the_server_is_reached(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel("question", "The answer.")
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        await look.page.context.set_offline(True)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Which?")
        await box.press("Enter")
        await expect(look.page.get_by_role("log")).to_contain_text("The connection is lost.")
        assert model.requests == []
        await look.page.context.set_offline(False)
        await expect(look.page.get_by_role("log")).to_contain_text("The answer.")
        look.problems.clear()  # the console tells of the network that was gone


async def test_what_was_changed_without_a_network_is_stored_once_it_is_back(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await look.page.context.set_offline(True)
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("words")
        await expect(look.page.locator(".saving")).to_have_text("Not saved")
        await look.page.context.set_offline(False)
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        assert await value(look, flow, "input_value") == "words"
        look.problems.clear()  # the console tells of the network that was gone
