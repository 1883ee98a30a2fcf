"""What axe finds in each state of the page, in light and in dark: nothing. And what the page is on a small screen."""

from typing import Any, Literal

import pytest
from playwright.async_api import Browser

from flows.catalogue import Catalogue
from scripts.page import ROOT
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import STATES

pytestmark = pytest.mark.anyio
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
ZOOMED = """() => {
  const view = document.querySelector(".react-flow__viewport");
  if (view !== null && new DOMMatrix(getComputedStyle(view).transform).a < 1)
    axe.configure({rules: [{id: "target-size", selector: "*:not(.react-flow__viewport *)"}]});
}"""
"""On a canvas that is zoomed out everything is smaller: whoever needs larger targets zooms in."""
RUN = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})"
WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.table
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", STATES)
async def test_nothing_keeps_anyone_out(
    name: str, scheme: Literal["light", "dark"], browser: Browser, catalogue: Catalogue
) -> None:
    script, reach = STATES[name]
    who = assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        await look.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await reach(look)
        await look.page.evaluate(AXE.read_text(encoding="utf-8"))
        await look.page.evaluate(ZOOMED)
        found: dict[str, Any] = await look.page.evaluate(RUN)
        told = [
            f"{one['id']}: {one['help']} {[node['target'] for node in one['nodes']][:3]}" for one in found["violations"]
        ]
    assert told == []


@pytest.mark.parametrize("width", [320, 390, 768, 3840])
async def test_no_state_is_wider_than_its_screen(width: int, browser: Browser, catalogue: Catalogue) -> None:
    for name in ("flows", "proposed", "planned", "palette"):
        script, reach = STATES[name]
        who = assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 4))
        async with looking(browser, who, size={"width": width, "height": 800}) as look:
            await reach(look)
            assert not await look.page.evaluate(WIDE), name
