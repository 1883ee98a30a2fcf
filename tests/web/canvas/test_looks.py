"""States of the canvas that axe finds nothing in, in light and dark, and that fit their screens."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, node, opened
from tests.web.conftest import Look, looking
from tests.web.states import BUILD
from tests.web.test_access import AXE, RUN, WIDE

pytestmark = pytest.mark.anyio
Reach = Callable[[Look, Catalogue], Awaitable[None]]


async def replaced(look: Look, catalogue: Catalogue) -> None:
    """A proposal over a flow."""
    await opened(look, flow_with(catalogue, "TextInput", "SplitText"))
    await look.ask("Build an echo instead")
    await expect(look.page.locator(".node.removed")).to_have_count(2)


async def coded(look: Look, catalogue: Catalogue) -> None:
    """The source of a component."""
    await opened(look, flow_with(catalogue, "ChatInput"))
    await node(look, "Chat Input").locator("header").click()
    await look.page.get_by_role("button", name="Show its code").click()
    await expect(look.page.get_by_role("dialog").get_by_role("textbox")).to_be_visible()


async def tabled(look: Look, catalogue: Catalogue) -> None:
    """A table's editor."""
    await opened(look, flow_with(catalogue, "StructuredOutput"))
    await node(look, "Structured Output").get_by_role("button", name="Output Schema").click()
    await expect(look.page.get_by_role("dialog").get_by_role("table")).to_be_visible()


async def noted(look: Look, catalogue: Catalogue) -> None:
    """A note that is selected, and the legend."""
    await opened(look, flow_with(catalogue, "Agent", "Prompt Template"))
    await look.page.get_by_role("button", name="Add note").click()
    await look.page.get_by_role("textbox", name="Note").fill("Ask **nicely**")
    await look.page.keyboard.press("Escape")
    await look.page.locator(".legend").evaluate("(one) => { one.open = true }")


STATES: dict[str, Reach] = {"replaced": replaced, "coded": coded, "tabled": tabled, "noted": noted}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", STATES)
async def test_nothing_keeps_anyone_out(
    name: str, scheme: Literal["light", "dark"], browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        await look.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await STATES[name](look, catalogue)
        await look.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: dict[str, Any] = await look.page.evaluate(RUN)
        assert not await look.page.evaluate(WIDE)
        told = [
            f"{one['id']}: {one['help']} {[node['target'] for node in one['nodes']][:3]}" for one in found["violations"]
        ]
    assert told == []
