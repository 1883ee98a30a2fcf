"""What is seen of a long turn while it runs: what the model says between its calls, and how long a step takes."""

import re

import pytest
from playwright.async_api import Browser, expect
from pydantic_ai import TextPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.conftest import looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio

FIRST, SECOND = "First I look for a **splitter**.", "Now I add it."


async def test_what_the_model_says_between_its_calls_appears_in_order_while_the_turn_runs(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel(
        "build_flow",
        [TextPart(FIRST), call("search_components", 1, query="split")],
        [TextPart(SECOND), call("add_component", 2, type="SplitText")],
        "I added the splitter.",
        blocks_at=3,
    )
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Add a splitter")
        await box.press("Enter")
        parts = look.page.locator(".message.assistant > .remark, .message.assistant > .tool")
        await expect(parts).to_have_text(
            [
                "First I look for a splitter.",
                re.compile("^search components"),
                SECOND,
                re.compile("^add component"),
            ]
        )
        await expect(look.page.locator(".message.assistant .remark strong")).to_have_text("splitter")
        await expect(look.page.get_by_role("log")).to_have_attribute("aria-busy", "true")
        status = look.page.locator(".message .status")
        await expect(status).to_contain_text("Working…")
        await expect(status.locator(".elapsed")).to_have_text(re.compile(r"^\d+ s$"))
        model.released.set()
        await expect(look.page.get_by_role("log")).to_contain_text("I added the splitter.")
        await expect(status).to_have_count(0)
        await expect(parts).to_have_count(4)
        told = await parts.all_inner_texts()
        await look.page.reload()
        await expect(parts).to_contain_text(told)


async def test_a_question_that_the_model_asks_with_its_call_is_told_once(
    browser: Browser, catalogue: Catalogue
) -> None:
    plan = call("propose_plan", 1, markdown="1. Take the message.")
    model = ScriptedModel("build_flow", [TextPart("This is what I would do."), plan])
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        await look.ask("Plan an echo")
        await expect(look.page.get_by_role("region", name="Plan")).to_be_visible()
        await expect(look.page.get_by_text("This is what I would do.")).to_have_count(1)
        await look.page.reload()
        await expect(look.page.get_by_text("This is what I would do.")).to_have_count(1)
