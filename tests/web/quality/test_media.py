"""What the page is for those who want less movement, and with colours that the system forces."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from runtime.run_events import NodeFinished, NodeStarted
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import opened
from tests.web.conftest import looking
from tests.web.states import BUILD, proposed

pytestmark = pytest.mark.anyio
MOVES = "document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations === Infinity).length"
STYLE = "(one) => getComputedStyle(one).borderTopStyle"
COLOURS = "(one) => [getComputedStyle(one).backgroundColor, getComputedStyle(one, '::after').content]"


async def test_a_path_moves_only_for_those_who_want_movement(browser: Browser, catalogue: Catalogue) -> None:
    flow = flow_of(ECHO, catalogue)
    ids = [one.id for one in flow.components]
    started = [
        NodeStarted(node=ids[0], iteration=1),
        NodeFinished(node=ids[0], iteration=1, seconds=0.1, ok=True),
        NodeStarted(node=ids[1], iteration=1),
    ]
    runner = StandInRunner(events=list(started), hangs=True)
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, {**flow.to_json(), "name": "Echo"})
        await look.page.get_by_role("tab", name="Try the flow").click()
        box = look.page.get_by_role("textbox", name="Input of the run")
        await box.fill("hello")
        await box.press("Enter")
        await expect(look.page.locator(".react-flow__edge.flowing")).to_have_count(1)
        assert await look.page.evaluate(MOVES) == 0
        await look.page.emulate_media(reduced_motion="no-preference")
        assert await look.page.evaluate(MOVES) == 1
        await look.page.get_by_role("button", name="Stop the run").click()


async def test_with_forced_colours_what_is_added_and_each_port_stay_apart(
    browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        await look.page.emulate_media(forced_colors="active", reduced_motion="reduce")
        await proposed(look)
        ghost = look.page.locator(".node.added").first
        await expect(ghost).to_be_visible()
        assert await ghost.evaluate(STYLE) == "dashed"
        colour, letter = await look.page.locator(".port").first.evaluate(COLOURS)
        assert colour not in {"rgba(0, 0, 0, 0)", "rgb(255, 255, 255)", "rgb(0, 0, 0)"}, "a port keeps its own colour"
        assert letter == '"M"'
        await look.page.get_by_role("button", name="Put on the canvas").click()
        header = look.page.get_by_role("article", name="Chat Input").locator("header")
        await header.click()
        chosen = look.page.locator(".node.selected")
        other = look.page.locator(".node:not(.selected)")
        outline = "(one) => { const it = getComputedStyle(one); return [it.outlineStyle, it.outlineWidth]; }"
        assert await chosen.evaluate(outline) != await other.evaluate(outline), "shadows are gone"
