"""What waits for the user's decision, drawn on the canvas as ghosts, and answered there."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, node, nodes, opened, stored, value
from tests.web.conftest import Look, looking
from tests.web.states import BUILD, proposed
from tests.web.test_input import reported

pytestmark = pytest.mark.anyio
TEXTS = ("ChatInput-0", "TextInput-1")


def runner() -> StandInRunner:
    return StandInRunner(results=[ran("hello")] * 6)


async def test_a_proposal_is_drawn_as_ghosts_and_put_there_by_its_own_button(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD), runner())) as look:
        await proposed(look)
        ghosts = look.page.locator(".react-flow__node.ghost")
        await expect(ghosts).to_have_count(2)
        await expect(nodes(look)).to_have_count(0)
        await expect(look.page.locator(".react-flow__edge.added")).to_have_count(1)
        await look.page.get_by_role("region", name="Waits for you").get_by_role("button", name="Add 2 nodes").click()
        await expect(nodes(look)).to_have_count(2)
        await expect(ghosts).to_have_count(0)
        await expect(look.page.get_by_role("region", name="Proposed flow: Echo")).to_contain_text("Approved")
        drawn = 'assistant_flow_apply_duration_ms_count{size="small"} 1.0'
        await reported(look, "assistant_flow_proposal_continue_total 1.0", drawn)


async def test_a_proposal_over_a_flow_strikes_what_it_replaces_and_is_dismissed_on_the_canvas(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD), runner())) as look:
        await opened(look, flow_with(catalogue, "TextInput", "SplitText"))
        await look.ask("Build an echo instead")
        await expect(look.page.locator(".node.removed")).to_have_count(2)
        await expect(look.page.locator(".react-flow__node.ghost")).to_have_count(2)
        bar = look.page.get_by_role("region", name="Waits for you")
        await expect(bar.get_by_role("button", name="Replace all 2 nodes with 2")).to_be_visible()
        await expect(look.page.locator(".react-flow__node")).to_have_count(4)
        await bar.get_by_role("button", name="Keep it as it is").click()
        await expect(bar).to_have_count(0)
        await expect(look.page.locator(".react-flow__node.ghost, .node.removed")).to_have_count(0)
        await expect(nodes(look)).to_have_count(2)


async def test_a_proposal_takes_the_place_of_the_flow_with_its_button_on_the_canvas(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD), runner())) as look:
        flow = await opened(look, flow_with(catalogue, "TextInput", "SplitText"))
        await look.ask("Build an echo instead")
        await look.page.get_by_role("button", name="Replace all 2 nodes with 2").click()
        await expect(nodes(look)).to_have_count(2)
        await expect(node(look, "Chat Input")).to_be_visible()
        await expect(look.page.get_by_role("region", name="Proposed flow: Echo")).to_contain_text(
            "On the canvas instead"
        )
        kept = await stored(look, flow)
        assert (len(kept["data"]["nodes"]), kept["name"]) == (2, "Mine")


def edits() -> list[object]:
    return [
        call("configure_component", at + 1, component_id=one, values={"input_value": f"new {one}"})
        for at, one in enumerate(TEXTS)
    ]


async def waiting_edits(look: Look, catalogue: Catalogue) -> str:
    """Two texts of the user's own, which the assistant would change."""
    flow = flow_with(catalogue, "ChatInput", "TextInput")
    data: Any = flow["data"]
    for one in data["nodes"]:
        one["data"]["node"]["template"]["input_value"]["value"] = "old words"
    flow_id = await opened(look, flow)
    await look.ask("Change the texts")
    await expect(look.page.locator(".node.edited")).to_have_count(2)
    return flow_id


async def test_changed_fields_show_old_and_new_in_their_place_and_are_accepted_together(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel("build_flow", edits(), "Changed.")  # pyright: ignore[reportArgumentType]  (calls)
    async with looking(browser, assistant(catalogue, model, runner())) as look:
        flow = await waiting_edits(look, catalogue)
        chat = node(look, "Chat Input, would be changed")
        await expect(chat.locator(".waits del")).to_have_text("old words")
        await expect(chat.locator(".waits ins")).to_have_text("new ChatInput-0")
        await look.page.get_by_role("button", name="Accept all 2").click()
        await expect(look.page.locator(".node.edited")).to_have_count(0)
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_have_value(
            "new ChatInput-0"
        )
        await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()
        assert [await value(look, flow, "input_value", at) for at in (0, 1)] == [f"new {one}" for one in TEXTS]


async def test_changes_are_walked_and_answered_one_by_one(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", edits(), "Changed.")  # pyright: ignore[reportArgumentType]  (calls)
    async with looking(browser, assistant(catalogue, model, runner())) as look:
        flow = await waiting_edits(look, catalogue)
        bar = look.page.get_by_role("region", name="Waits for you")
        await bar.get_by_role("button", name="Next change").click()
        await expect(look.page.locator(".react-flow__node[data-id=TextInput-1]")).to_be_focused()
        await bar.get_by_role("button", name="Accept the change").click()
        await expect(look.page.locator(".node.edited")).to_have_count(1)
        await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()
        await bar.get_by_role("button", name="Keep it as it is").click()
        await expect(bar).to_have_count(0)
        await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()
        assert [await value(look, flow, "input_value", at) for at in (0, 1)] == ["old words", "new TextInput-1"]


async def test_what_is_pointed_at_in_the_panel_comes_into_view_and_the_view_goes_back(
    browser: Browser, catalogue: Catalogue
) -> None:
    added = [call("add_component", 1, type="TextInput")]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", added, "Added."), runner())) as look:
        await opened(look, flow_with(catalogue, "ChatInput"))
        await look.ask("Add a text input")
        await expect(nodes(look)).to_have_count(2)
        added_node = look.page.locator(".react-flow__node").filter(has=node(look, "Text Input"))
        for _ in range(2):  # so that it is out of view
            await look.page.mouse.move(820, 600)
            await look.page.mouse.down()
            await look.page.mouse.move(20, 560, steps=4)
            await look.page.mouse.up()
        await expect(added_node).not_to_be_in_viewport()
        moved = await look.page.locator(".react-flow__viewport").get_attribute("style")
        await look.page.get_by_text("Added Text Input").hover()
        await expect(added_node).to_be_in_viewport()
        await expect(look.page.locator(".node.pointed")).to_have_count(1)
        await look.page.mouse.move(300, 300)
        await expect(added_node).not_to_be_in_viewport()
        assert await look.page.locator(".react-flow__viewport").get_attribute("style") == moved
        row = look.page.get_by_role("button", name="Added Text Input")
        await row.focus()
        await expect(added_node).to_be_in_viewport()
        await look.page.get_by_role("textbox", name="Message to the assistant").focus()
        await expect(added_node).not_to_be_in_viewport()
        await row.focus()
        await row.press("Enter")
        await expect(added_node).to_be_focused()
        await expect(added_node).to_be_in_viewport()


async def test_the_view_follows_until_the_user_moves_it_and_again_on_request(
    browser: Browser, catalogue: Catalogue
) -> None:
    script = [
        part
        for at in (1, 2, 3)
        for part in ("build_flow", [call("add_component", at, type="TextInput")], f"Added {at}.")
    ]
    async with looking(browser, assistant(catalogue, ScriptedModel(*script), runner())) as look:
        await opened(look, flow_with(catalogue, "ChatInput"))
        place = look.page.locator(".react-flow__viewport")
        follow = look.page.get_by_role("button", name="Follow changes")
        await expect(follow).to_have_attribute("aria-pressed", "true")
        await look.ask("Add one")
        await look.page.mouse.move(300, 500)
        await look.page.mouse.wheel(0, 4000)
        await expect(follow).to_have_attribute("aria-pressed", "false")
        moved = await place.get_attribute("style")
        await look.ask("Add another")
        await expect(nodes(look)).to_have_count(3)
        assert await place.get_attribute("style") == moved
        await follow.click()
        await look.ask("Add a third")
        await expect(nodes(look)).to_have_count(4)
        await expect(look.page.locator(".node.changed")).to_be_in_viewport()


async def test_the_canvas_is_edited_while_the_assistant_works(browser: Browser, catalogue: Catalogue) -> None:
    added = [call("add_component", 1, type="TextInput")]
    model = ScriptedModel("build_flow", added, "Added.", blocks_at=2)
    async with looking(browser, assistant(catalogue, model, runner())) as look:
        flow = await opened(look, flow_with(catalogue, "ChatInput"))
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Add a text input")
        await box.press("Enter")
        await asyncio.wait_for(model.blocked.wait(), 20)
        field = node(look, "Chat Input").get_by_role("textbox", name="Input Text")
        await field.fill("written meanwhile")
        await expect(field).to_have_value("written meanwhile")
        model.released.set()
        await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()
        await expect(nodes(look)).to_have_count(2)
        await expect(field).to_have_value("written meanwhile")
        document = await stored(look, flow)
        assert len(document["data"]["nodes"]) == 2
        assert await value(look, flow, "input_value") == "written meanwhile"
