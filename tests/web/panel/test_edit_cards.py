"""An edit that replaces words of the user: accepted, changed or dismissed, and what stands on the canvas then."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from pydantic_ai import ModelMessage
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import Reply, ScriptedModel, Step, assistant
from tests.web.canvas.conftest import flow_with, node, opened, value
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
FIELD = "input_value"


def texts(number: int, text: str) -> Step:
    """The assistant sets the text of the chat input."""

    def reply(messages: list[ModelMessage], _: AgentInfo) -> Reply:
        found = re.search(r"ChatInput-\w+", str(messages))
        assert found is not None
        return [call("configure_component", number, component_id=found[0], values={FIELD: text})]

    return reply


async def asked(look: Look, catalogue: Catalogue) -> tuple[str, Locator]:
    """Have an edit asked about that replaces words of the user; returns the flow's id and the card."""
    flow: Any = flow_with(catalogue, "ChatInput")
    flow["data"]["nodes"][0]["data"]["node"]["template"][FIELD]["value"] = "good morning"
    flow_id = await opened(look, flow)
    await look.ask("Say good night instead")
    card = look.page.get_by_role("region", name="Change").first
    await expect(card.locator("del")).to_have_text("good morning")
    await expect(card.locator("ins")).to_have_text("good night")
    return flow_id, card


def shown(look: Look) -> Locator:
    """The text of the chat input on the canvas."""
    return node(look, "Chat Input").get_by_role("textbox", name="Input Text")


async def ended(look: Look) -> None:
    """Wait until the turn has ended, and its changes are stored."""
    await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()


async def test_an_edit_that_is_accepted_is_applied(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", texts(1, "good night"), "It says good night now.")
    async with looking(browser, assistant(catalogue, model)) as look:
        flow, card = await asked(look, catalogue)
        await card.get_by_role("button", name="Approve").click()
        await expect(card.locator(".outcome")).to_have_text("Approved")
        await expect(shown(look)).to_have_value("good night")
        await ended(look)
        assert await value(look, flow, FIELD) == "good night"


async def test_an_edit_that_is_changed_is_asked_about_again_and_the_changed_value_is_applied(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel("build_flow", texts(1, "good night"), texts(2, "good evening"), "It says good evening now.")
    async with looking(browser, assistant(catalogue, model)) as look:
        flow, card = await asked(look, catalogue)
        await card.get_by_role("button", name="Change").click()
        await card.get_by_role("textbox", name="Change").fill("good evening, it is not that late")
        await card.get_by_role("textbox", name="Change").press("Enter")
        await expect(card.locator(".outcome")).to_have_text("Denied")
        again = look.page.get_by_role("region", name="Change").nth(1)
        await expect(again.locator("ins")).to_have_text("good evening")
        await ended(look)
        assert "good evening, it is not that late" in " ".join(model.tool_answers(-1))
        assert await value(look, flow, FIELD) == "good morning", "nothing is applied before it is accepted"
        await again.get_by_role("button", name="Approve").click()
        await expect(again.locator(".outcome")).to_have_text("Approved")
        await expect(shown(look)).to_have_value("good evening")
        await ended(look)
        assert await value(look, flow, FIELD) == "good evening"


async def test_an_edit_that_is_dismissed_leaves_what_was_there(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", texts(1, "good night"), "I left it.")
    async with looking(browser, assistant(catalogue, model)) as look:
        flow, card = await asked(look, catalogue)
        await card.get_by_role("button", name="Deny").click()
        await expect(card.locator(".outcome")).to_have_text("Denied")
        await expect(look.page.get_by_role("log")).to_contain_text("I left it.")
        await expect(shown(look)).to_have_value("good morning")
        await ended(look)
        assert await value(look, flow, FIELD) == "good morning"
        await expect(look.page.get_by_role("button", name="Undo")).to_be_disabled()


async def test_a_call_that_goes_on_asks_again_with_buttons_of_its_own_also_after_a_reload(
    browser: Browser, catalogue: Catalogue
) -> None:
    changes = "config:\n  Chat Input.input_value: good night\nremove:\n  Text Input\n"
    read = '{"intent": "build_flow", "mandate": {"edit": ["greeting"]}}'  # which removes nothing
    model = ScriptedModel(read, [call("edit_flow", 1, changes=changes)], "Both are done.")
    async with looking(browser, assistant(catalogue, model)) as look:
        flow: Any = flow_with(catalogue, "ChatInput", "TextInput")
        flow["data"]["nodes"][0]["data"]["node"]["template"][FIELD]["value"] = "good morning"
        await opened(look, flow)
        await look.ask("Change the greeting")
        first = look.page.get_by_role("region", name="Change").first
        await first.get_by_role("button", name="Approve").click()
        second = look.page.get_by_role("region", name=re.compile("^Remove"))
        await expect(second.get_by_role("button", name="Remove")).to_be_visible()
        await ended(look)
        await expect(second.locator(".outcome")).to_have_count(0)
        await look.page.reload()
        await expect(first.locator(".outcome")).to_have_text("Approved")
        await second.get_by_role("button", name="Remove").click()
        await expect(node(look, "Text Input")).to_have_count(0)
        await expect(look.page.get_by_role("log")).to_contain_text("Both are done.")
        await look.page.reload()
        await expect(first.locator(".outcome")).to_have_text("Approved")
        await expect(second.locator(".outcome")).to_have_text("Approved")


async def test_the_card_shows_all_that_approving_it_does(browser: Browser, catalogue: Catalogue) -> None:
    changes = "config:\n  Welcome.input_value: good night\nnames:\n  Welcome: Farewell\n"
    model = ScriptedModel("build_flow", [call("edit_flow", 1, changes=changes)], "It is done.")
    async with looking(browser, assistant(catalogue, model)) as look:
        flow: Any = flow_with(catalogue, "ChatInput")
        flow["data"]["nodes"][0]["data"]["node"]["template"][FIELD]["value"] = "good morning"
        flow["data"]["nodes"][0]["data"]["node"]["display_name"] = "Welcome"
        await opened(look, flow)
        await look.ask("Say good night instead")
        card = look.page.get_by_role("region", name="Change").first
        await expect(card.get_by_role("listitem")).to_have_text(["Rename Welcome to Farewell"])
        await expect(look.page.get_by_role("article", name=re.compile("^Welcome"))).to_have_count(1)
        await card.get_by_role("button", name="Approve").click()
        await expect(node(look, "Farewell")).to_have_count(1)


async def test_what_the_user_has_denied_is_not_called_failed(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", texts(1, "good night"), "I left it.")
    async with looking(browser, assistant(catalogue, model)) as look:
        _, card = await asked(look, catalogue)
        await card.get_by_role("button", name="Deny").click()
        await expect(look.page.get_by_role("log")).to_contain_text("I left it.")
        for _ in range(2):
            trace = look.page.locator(".tool", has_text="configure component").last
            await expect(trace).to_have_attribute("data-state", "denied")
            await expect(trace.locator("summary")).to_have_text("configure component Denied")
            await look.page.reload()
