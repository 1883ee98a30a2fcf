"""What the page says for a while, and what it leaves to be undone."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, built, empty, trying

pytestmark = pytest.mark.anyio


async def test_a_notice_goes_by_itself_but_not_while_it_is_pointed_at(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("hello")] * 4)
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD), runner)) as look:
        page = look.page
        await page.clock.install()
        await trying(look)
        await page.get_by_role("button", name="Save as a test").click()
        notice = page.locator(".notice")
        await expect(notice).to_contain_text("Saved as a test.")
        await notice.hover()
        await page.clock.fast_forward(60_000)
        await expect(notice).to_be_visible()
        await page.mouse.move(0, 0)
        await page.clock.fast_forward(7_000)
        await expect(notice).to_have_count(0)


async def test_a_failure_is_gone_in_another_place(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/variables")
        await page.get_by_label("Name", exact=True).fill("no name at all")
        await page.get_by_label("Value").fill("x")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".notice")).to_be_visible()
        await page.get_by_role("link", name="Files").click()
        await expect(page.locator(".notice")).to_have_count(0)
        look.problems.clear()  # the console says that a request was refused


async def test_a_turn_that_changes_nothing_leaves_nothing_to_undo(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        await empty(look)
        await look.ask("Which?")
        await expect(look.page.get_by_role("button", name="Undo")).to_be_disabled()


async def test_a_turn_that_changes_nothing_leaves_the_last_step(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel(*BUILD, "question", "It takes the message.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 4))) as look:
        await built(look)
        await look.ask("What does it do?")
        await look.page.get_by_role("button", name="Undo").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(0)


@pytest.mark.parametrize("locale", ["en-GB", "de-DE", "pt-BR"])
async def test_the_first_and_the_last_example_build_a_flow_without_a_model(
    locale: str, browser: Browser, catalogue: Catalogue
) -> None:
    runner = StandInRunner(results=[ran("hello")] * 4)
    async with looking(browser, assistant(catalogue, runner=runner), locale=locale) as look:
        for at in (0, -1):
            await look.page.goto(f"{look.base}/#/flows")
            await look.page.locator("header .button.primary").click()
            await look.page.locator(".log .hint .button").nth(at).click()
            await expect(look.page.locator(".react-flow__node").first).to_be_visible()
