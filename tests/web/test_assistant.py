"""The assistant on the page: approvals of each kind, mentions, commands, waiting messages, lost connections."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, Step, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import Look, looking
from tests.web.panel.connection import CUTTABLE, cut_off
from tests.web.states import BUILD, PLAN, built, empty, planned, proposed

pytestmark = pytest.mark.anyio


def who(catalogue: Catalogue, *script: Step) -> Any:
    return assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 6))


@pytest.mark.parity(
    "term-pending-plan-proposal", "term-plan-proposal-status", "base-term-approve-action", "term-refining-state"
)
async def test_a_plan_that_is_refined_comes_back_changed_and_then_builds(
    browser: Browser, catalogue: Catalogue
) -> None:
    script = (
        *PLAN,
        [call("propose_plan", 2, markdown="1. Only answer.")],
        [call("build_flow", 3, spec=ECHO)],
        "Built.",
    )
    async with looking(browser, who(catalogue, *script)) as look:
        await planned(look)
        plans = look.page.get_by_role("region", name="Plan")
        await plans.get_by_role("button", name="Change").click()
        await plans.get_by_role("textbox", name="Change").fill("shorter")
        await plans.get_by_role("button", name="Send").click()
        await expect(plans.nth(1)).to_contain_text("Only answer.")
        await expect(plans.nth(0)).to_contain_text("Denied")
        await plans.nth(1).get_by_role("button", name="Approve").click()
        await expect(look.page.get_by_role("region", name="Proposed flow: Echo")).to_be_visible()
        await expect(plans.nth(1)).to_contain_text("Approved")


@pytest.mark.parity("term-pending-flow-proposal", "term-flow-proposal-status", "ADR-MCP-014", "scenario-badge-reverts")
async def test_a_dismissed_proposal_is_dismissed(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD, "question", "You are welcome.")) as look:
        await proposed(look)
        card = look.page.get_by_role("region", name="Proposed flow: Echo")
        await card.get_by_role("button", name="Dismiss").click()
        await expect(card).to_contain_text("Denied")
        await expect(look.page.locator(".react-flow__node")).to_have_count(0)
        await look.ask("Thank you")
        await expect(card).to_contain_text("Denied")
        await look.page.reload()
        await expect(card).to_contain_text("Denied")


@pytest.mark.parity("term-flow-action", "term-flow-edit-carousel")
async def test_a_change_of_a_text_shows_old_and_new_and_is_made_when_it_is_approved(
    browser: Browser, catalogue: Catalogue
) -> None:
    edit = [call("configure_component", 2, component_id="chat", values={"input_value": "new words"})]
    async with looking(browser, who(catalogue, *BUILD, "build_flow", edit, "Changed.")) as look:
        await built(look)
        field = look.page.get_by_role("article", name="Chat Input").get_by_label("Input Text")
        await field.fill("old words")
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        [stored] = (await look.live.client.get(FLOWS)).json()["flows"]
        flow = (await look.live.client.get(f"{FLOWS}/{stored['id']}")).json()["flow"]
        [chat] = [node["id"] for node in flow["data"]["nodes"] if node["data"]["type"] == "ChatInput"]
        edit[0].args = {"component_id": chat, "values": {"input_value": "new words"}}
        await look.ask("Change the text of the chat input")
        card = look.page.get_by_role("region", name="Change")
        await expect(card.locator("del")).to_have_text("old words")
        await expect(card.locator("ins")).to_have_text("new words")
        await card.get_by_role("button", name="Approve").click()
        await expect(field).to_have_value("new words")


@pytest.mark.parity("base-term-component-mention", "base-term-field-mention", "base-scenario-mention-list")
async def test_mentions_and_commands_are_completed_by_keyboard(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD)) as look:
        await built(look)
        page = look.page
        box = page.get_by_role("textbox", name="Message to the assistant")
        await box.press_sequentially("see @out")
        await expect(page.get_by_role("option")).to_have_count(1)
        await expect(page.locator(".node.pointed")).to_have_count(1)
        await box.press("Enter")
        await box.press_sequentially(".inp")
        await expect(page.get_by_role("option").first).to_contain_text("Inputs")
        await box.press("Tab")
        assert (await box.input_value()).startswith("see 'ChatOutput-")
        assert (await box.input_value()).endswith(".input_value' ")
        await expect(page.locator(".node.pointed")).to_have_count(0)

        await box.fill("/skip-all")
        await box.press("Enter")
        await expect(page.get_by_role("checkbox", name="Apply plans and edits")).to_be_checked()
        await expect(page.get_by_role("log")).to_contain_text("applied without asking")
        await page.reload()
        await expect(page.get_by_role("checkbox", name="Apply plans and edits")).to_be_checked()
        await box.fill("/new")
        await box.press("Enter")
        await expect(page.get_by_role("log")).to_contain_text("Describe the flow you want")


async def test_what_is_sent_while_it_works_waits_and_stop_stops(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.", "question", "Three.", blocks_at=1)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        page = look.page
        box = page.get_by_role("textbox", name="Message to the assistant")
        for text in ("First?", "Second?"):
            await box.fill(text)
            await box.press("Enter")
        await model.blocked.wait()
        await expect(page.get_by_role("log")).to_contain_text("1 waiting to be sent")
        model.released.set()
        await expect(page.get_by_role("log")).to_contain_text("Two.")
        texts = await page.locator(".message").all_inner_texts()
        assert [text.splitlines()[0] for text in texts] == ["First?", "One.", "Second?", "Two."]

        model.blocked.clear()
        model.released.clear()
        model.blocks_at = 5
        await box.fill("Third?")
        await box.press("Enter")
        await model.blocked.wait()
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_role("log")).to_contain_text("The turn was cancelled.")


async def test_a_reload_in_the_middle_goes_on_with_the_turn(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "The answer.", blocks_at=1)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Tell me")
        await box.press("Enter")
        await model.blocked.wait()
        await look.page.reload()
        await expect(look.page.get_by_role("log").and_(look.page.locator("[aria-busy=true]"))).to_be_visible()
        model.released.set()
        await expect(look.page.get_by_role("log")).to_contain_text("The answer.")


async def test_a_lost_connection_is_told_and_made_up_for(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "The answer.", blocks_at=1)
    async with looking(browser, assistant(catalogue, model)) as look:
        await look.page.add_init_script(CUTTABLE)
        await look.page.reload()
        await empty(look)
        await cut(look, model)
        await expect(look.page.get_by_role("log")).to_contain_text("The answer.")
        look.problems.clear()  # the console says that the network was gone


async def cut(look: Look, model: ScriptedModel) -> None:
    """Ask, take the network away while the model thinks, and give it back."""
    box = look.page.get_by_role("textbox", name="Message to the assistant")
    await box.fill("Tell me")
    await box.press("Enter")
    await model.blocked.wait()
    await cut_off(look.page)
    await expect(look.page.get_by_role("log")).to_contain_text("The connection is lost.")
    await look.page.context.set_offline(False)
    model.released.set()


async def test_the_last_message_is_sent_again_from_where_it_was(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, "question", "One.", "question", "Two.")) as look:
        await empty(look)
        await look.ask("Which?")
        await look.page.get_by_role("button", name="Send it again").click()
        await expect(look.page.get_by_role("log")).to_contain_text("Two.")
        await expect(look.page.get_by_role("log")).not_to_contain_text("One.")
        await expect(look.page.locator(".message.user")).to_have_count(1)


@pytest.mark.parity("error-frontend")
async def test_an_error_says_what_to_do(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, RuntimeError("secret inside"))) as look:
        await empty(look)
        await look.ask("Which?")
        card = look.page.get_by_role("region", name="The turn failed")
        await expect(card.get_by_role("alert")).to_be_visible()
        await card.get_by_text("Details").click()
        assert "secret inside" not in await card.inner_text()
        await expect(card.get_by_role("button", name="Try again")).to_be_enabled()
