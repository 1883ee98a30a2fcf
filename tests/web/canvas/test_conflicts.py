"""What somebody else stores meanwhile: merged with the own changes, and asked about where both changed the same."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.server.live import FLOWS
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, node, opened, value
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
FIELD = "input_value"


async def changed_elsewhere(look: Look, flow_id: str, texts: dict[int, str]) -> None:
    """Store the flow with other texts, as another browser does."""
    known = (await look.live.client.get(f"{FLOWS}/{flow_id}")).json()
    flow: Any = known["flow"]
    for at, text in texts.items():
        flow["data"]["nodes"][at]["data"]["node"]["template"][FIELD]["value"] = text
    sent = {"version": known["version"], "flow": flow}
    (await look.live.client.put(f"{FLOWS}/{flow_id}", json=sent)).raise_for_status()


async def write(look: Look, title: str, label: str, text: str) -> None:
    """Write into a field by hand."""
    await node(look, title).get_by_role("textbox", name=label).fill(text)


async def test_what_others_changed_elsewhere_in_the_flow_is_brought_together_with_the_own_changes(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await changed_elsewhere(look, flow, {1: "theirs"})
        await write(look, "Chat Input", "Input Text", "mine")
        await expect(node(look, "Text Input").get_by_role("textbox", name="Text")).to_have_value("theirs")
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_have_value("mine")
        await expect(look.page.locator(".notice")).to_contain_text("It has both changes now.")
        assert [await value(look, flow, FIELD, at) for at in (0, 1)] == ["mine", "theirs"]
        await look.page.get_by_role("button", name="Undo").click()
        await expect(node(look, "Text Input").get_by_role("textbox", name="Text")).to_have_value("")
        look.problems.clear()  # the console tells of the version that was refused


@pytest.mark.parametrize(("button", "kept"), [("Keep mine", "mine"), ("Take theirs", "theirs")])
async def test_a_component_that_both_changed_is_shown_with_both_values_and_decided(
    button: str, kept: str, browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await changed_elsewhere(look, flow, {0: "theirs"})
        await write(look, "Chat Input", "Input Text", "mine")
        bar = look.page.get_by_role("region", name="Waits for you")
        await expect(bar).to_contain_text("Someone else has changed Chat Input too: Input Text.")
        await expect(look.page.locator(".saving")).to_have_text("Not saved")
        clash = node(look, "Chat Input, would be changed")
        await expect(clash.locator(".waits del")).to_have_text("mine")
        await expect(clash.locator(".waits ins")).to_have_text("theirs")
        await bar.get_by_role("button", name=button).click()
        await expect(bar).to_have_count(0)
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_have_value(kept)
        assert await value(look, flow, FIELD) == kept
        look.problems.clear()  # the console tells of the version that was refused


async def test_components_that_both_changed_are_decided_one_by_one(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput", "TextInput"))
        await look.page.context.set_offline(True)
        await write(look, "Chat Input", "Input Text", "mine")
        await write(look, "Text Input", "Text", "mine too")
        await expect(look.page.locator(".saving")).to_have_text("Not saved")
        await changed_elsewhere(look, flow, {0: "theirs", 1: "theirs too"})
        await look.page.context.set_offline(False)
        bar = look.page.get_by_role("region", name="Waits for you")
        await expect(bar).to_contain_text("1 of 2")
        await expect(bar.get_by_role("button", name="Take all 2 of theirs")).to_be_visible()
        await bar.get_by_role("button", name="Next change").click()
        await expect(look.page.locator(".react-flow__node[data-id=TextInput-1]")).to_be_focused()
        await bar.get_by_role("button", name="Take theirs").click()
        await expect(bar).to_contain_text("Someone else has changed Chat Input too")
        await bar.get_by_role("button", name="Keep mine").click()
        await expect(bar).to_have_count(0)
        assert [await value(look, flow, FIELD, at) for at in (0, 1)] == ["mine", "theirs too"]
        look.problems.clear()  # the console tells of the network that was gone, and of the version that was refused
