"""A reload shows what was there: questions, records, and the message of a turn that goes on."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, node, nodes, opened, value
from tests.web.conftest import looking
from tests.web.states import BUILD, empty, proposed

pytestmark = pytest.mark.anyio


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
        await expect(look.page.get_by_role("log")).to_have_attribute("aria-busy", "false")
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


async def test_what_is_answered_in_words_waits_no_longer(browser: Browser, catalogue: Catalogue) -> None:
    edits = [
        [call("configure_component", at, component_id="ChatInput-0", values={"input_value": f"words {at}"})]
        for at in (1, 2)
    ]
    script = ("build_flow", edits[0], "Changed.", "build_flow", edits[1], "Left as it was.")
    async with looking(browser, assistant(catalogue, ScriptedModel(*script))) as look:
        flow: Any = flow_with(catalogue, "ChatInput")
        flow["data"]["nodes"][0]["data"]["node"]["template"]["input_value"]["value"] = "old words"
        flow_id = await opened(look, flow)
        cards = look.page.get_by_role("region", name="Change")
        bar = look.page.get_by_role("region", name="Waits for you")
        for at, (word, outcome) in enumerate((("yes", "Approved"), ("no", "Denied"))):
            await look.ask("Change the text")
            await expect(bar).to_have_count(1)
            await look.ask(word)
            await expect(cards.nth(at).locator(".outcome")).to_have_text(outcome)
            await expect(bar).to_have_count(0)
        await look.page.reload()
        await expect(cards.locator(".outcome")).to_have_text(["Approved", "Denied"])
        await expect(bar).to_have_count(0)
        assert await value(look, flow_id, "input_value") == "words 1"


@pytest.mark.parametrize(("word", "outcome", "count"), [("yes", "Approved", 2), ("no", "Denied", 0)])
async def test_a_proposal_that_is_answered_in_words_waits_no_longer(
    word: str, outcome: str, count: int, browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel(*BUILD)
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 4))) as look:
        await proposed(look)
        await look.ask(word)
        card = look.page.get_by_role("region", name="Proposed flow: Echo")
        for reloads in (False, True):
            if reloads:
                await look.page.reload()
            await expect(card).to_contain_text(outcome)
            await expect(card.get_by_role("button")).to_have_count(0)
            await expect(look.page.get_by_role("region", name="Waits for you")).to_have_count(0)
            await expect(nodes(look)).to_have_count(count)


async def test_an_answer_that_fails_takes_nothing_that_another_browser_has_stored(
    browser: Browser, catalogue: Catalogue
) -> None:
    edit = [call("configure_component", 1, component_id="ChatInput-0", values={"input_value": "new words"})]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", edit, "Changed."))) as look:
        flow: Any = flow_with(catalogue, "ChatInput", "TextInput")
        flow["data"]["nodes"][0]["data"]["node"]["template"]["input_value"]["value"] = "old words"
        flow_id = await opened(look, flow)
        await look.ask("Change the text")
        other = await look.page.context.new_page()
        await other.goto(look.page.url)
        await other.get_by_role("region", name="Waits for you").get_by_role("button", name="Accept the change").click()
        await expect(other.get_by_role("region", name="Change")).to_contain_text("Approved")
        await expect(other.get_by_role("log")).to_have_attribute("aria-busy", "false")
        precious = other.get_by_role("article", name="Text Input").get_by_role("textbox", name="Text")
        await precious.fill("precious words")
        await expect(other.locator(".saving")).to_have_text("Saved")
        await look.page.get_by_role("region", name="Change").get_by_role("button", name="Approve").click()
        await expect(look.page.get_by_role("region", name="The turn failed")).to_be_visible()
        await look.page.get_by_role("textbox", name="Name").fill("Renamed")
        assert await value(look, flow_id, "input_value", 1) == "precious words"
        assert (await look.live.client.get(f"/api/v1/flows/{flow_id}")).json()["name"] == "Renamed"
        look.problems.clear()  # the console tells of what was refused


async def test_an_answer_that_fails_decides_nothing_and_what_the_server_knows_stands(
    browser: Browser, catalogue: Catalogue
) -> None:
    edits = [
        call("configure_component", at, component_id=f"{kind}-{at}", values={"input_value": "new words"})
        for at, kind in enumerate(("ChatInput", "TextInput"))
    ]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", edits, "Changed."))) as look:
        flow: Any = flow_with(catalogue, "ChatInput", "TextInput")
        for one in flow["data"]["nodes"]:
            one["data"]["node"]["template"]["input_value"]["value"] = "old words"
        flow_id = await opened(look, flow)
        await look.ask("Change both texts")
        cards = look.page.get_by_role("region", name="Change")
        await expect(cards).to_have_count(2)
        other = await look.page.context.new_page()
        await other.goto(look.page.url)
        denied = other.get_by_role("region", name="Change").first
        await denied.get_by_role("button", name="Deny").click()
        await expect(denied.locator(".outcome")).to_have_text("Denied")
        await expect(other.get_by_role("log")).to_have_attribute("aria-busy", "false")
        bar = look.page.get_by_role("region", name="Waits for you")
        await bar.get_by_role("button", name="Accept all 2").click()
        await expect(look.page.get_by_role("region", name="The turn failed")).to_be_visible()
        await expect(cards.locator(".outcome")).to_have_text(["Denied"])
        await cards.nth(1).get_by_role("button", name="Approve").click()
        await expect(cards.locator(".outcome")).to_have_text(["Denied", "Approved"])
        await expect(look.page.get_by_role("log")).to_contain_text("Changed.")
        assert [await value(look, flow_id, "input_value", at) for at in (0, 1)] == ["old words", "new words"]
        look.problems.clear()  # the console tells of what was refused


async def test_a_long_answer_is_whole_after_a_reload(browser: Browser, catalogue: Catalogue) -> None:
    answer = " ".join(f"word{at}" for at in range(6_000))
    async with looking(browser, assistant(catalogue, ScriptedModel("question", answer))) as look:
        await empty(look)
        await look.ask("Tell me all of it?")
        told = look.page.locator(".message.assistant .markdown")
        await expect(told).to_have_text(answer)
        await look.page.reload()
        await expect(told).to_have_text(answer)
