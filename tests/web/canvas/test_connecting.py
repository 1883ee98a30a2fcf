"""Connections: drawn by the mouse, refused with the reason, made by keyboard, and removed."""

import pytest
from playwright.async_api import Browser, Locator, expect

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import chosen, flow_with, middle, node, opened, stored
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio


def port(look: Look, title: str, name: str) -> Locator:
    """A port of a component by its name in the document."""
    return node(look, title).locator(f".react-flow__handle[data-handleid={name}]")


async def test_only_inputs_that_fit_stay_bright_while_a_connection_is_drawn_and_a_refusal_says_why(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput", "Agent"))
        faded = node(look, "Agent").locator(".port-row.refused")
        await expect(faded).to_have_count(0)
        await page.mouse.move(*await middle(port(look, "Chat Input", "message")))
        await page.mouse.down()
        await page.mouse.move(*await middle(port(look, "Agent", "tools")), steps=6)
        await expect(faded.filter(has_text="Tools")).to_have_count(1)
        await expect(faded.filter(has=port(look, "Agent", "input_value"))).to_have_count(0)
        await page.mouse.up()
        await expect(page.locator(".reason")).to_have_text("Chat Message gives Message; Tools takes Tool.")
        await expect(faded).to_have_count(0)
        await expect(page.locator(".react-flow__edge")).to_have_count(0)
        await page.mouse.move(*await middle(port(look, "Chat Input", "message")))
        await page.mouse.down()
        await page.mouse.move(*await middle(port(look, "Agent", "input_value")), steps=6)
        await page.mouse.up()
        await expect(page.locator(".react-flow__edge")).to_have_count(1)
        await expect(page.locator(".reason")).to_be_hidden()
        [edge] = (await stored(look, flow))["data"]["edges"]
        assert edge["data"]["targetHandle"]["fieldName"] == "input_value"


async def test_a_connection_is_made_chosen_and_removed_by_keyboard(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput", "Agent"))
        await page.locator(".react-flow__node[data-id=ChatInput-0]").focus()
        await page.keyboard.press("Enter")
        button = page.get_by_role("button", name="Connect to…")
        await button.focus()
        await button.press("Enter")
        targets = page.get_by_role("dialog", name="Connect to…").get_by_role("listitem").get_by_role("button")
        await expect(targets.first).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(button).to_be_focused()
        await button.press("Enter")
        await expect(targets.first).to_be_focused()
        assert "Tools" not in " ".join(await targets.all_inner_texts()), "what does not fit is not offered"
        assert await targets.nth(0).inner_text() == "Agent Input", "what it lacks comes first"
        await page.keyboard.press("ArrowDown")
        await expect(targets.nth(1)).to_be_focused()
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(button).to_be_focused()
        await expect(page.get_by_role("toolbar").get_by_role("status")).to_have_text(
            "Chat Input is connected to Agent · Input."
        )
        edge = page.locator(".react-flow__edge")
        await expect(edge).to_have_count(1)
        assert len((await stored(look, flow))["data"]["edges"]) == 1
        await edge.focus()
        await edge.press("Enter")
        await expect(page.locator(".react-flow__edge.selected")).to_have_count(1)
        await page.keyboard.press("Delete")
        await expect(edge).to_have_count(0)
        assert (await stored(look, flow))["data"]["edges"] == []


async def test_a_component_is_moved_by_arrow_keys_and_where_it_stands_is_kept(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        await chosen(look, "Chat Input")
        await look.page.locator(".react-flow__node[data-id=ChatInput-0]").focus()
        await look.page.keyboard.press("ArrowRight")
        await look.page.keyboard.press("ArrowDown")
        await expect(look.page.get_by_role("button", name="Undo")).to_be_enabled()
        place = (await stored(look, flow))["data"]["nodes"][0]["position"]
        assert place["x"] > 0
        assert place["y"] > 0
