"""Where components stand and what of them is in view: arranging, fitting and the overview."""

import pytest
from playwright.async_api import Browser, expect

from benchmarks.specs import built, chain
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, middle, nodes, opened, stored
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio
COUNT = 9


async def test_arranging_wraps_a_long_flow_into_rows_as_one_step(browser: Browser, catalogue: Catalogue) -> None:
    flow = {**built(chain(COUNT), catalogue).to_json(), "name": "Chain"}
    async with looking(browser, assistant(catalogue)) as look:
        flow_id = await opened(look, flow)
        before = [one["position"] for one in (await stored(look, flow_id))["data"]["nodes"]]
        await look.page.get_by_role("button", name="Arrange").click()
        await expect(look.page.get_by_role("button", name="Undo")).to_be_enabled()
        for at in range(COUNT):
            await expect(nodes(look).nth(at)).to_be_in_viewport()
        after = [one["position"] for one in (await stored(look, flow_id))["data"]["nodes"]]
        assert len({round(place["y"]) for place in after}) > 1, "more than one row"
        assert max(place["x"] for place in after) < max(place["x"] for place in before), "and no longer one line"
        await look.page.get_by_role("button", name="Undo").click()
        await expect(look.page.get_by_role("button", name="Undo")).to_be_disabled()
        assert [one["position"] for one in (await stored(look, flow_id))["data"]["nodes"]] == before


async def test_what_is_out_of_view_comes_back_by_the_button_and_by_the_overview(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await opened(look, flow_with(catalogue, "ChatInput", "ChatOutput"))
        await expect(page.locator(".react-flow__minimap-node")).to_have_count(2)
        view = page.locator(".react-flow__viewport")
        overview = await middle(page.locator(".react-flow__minimap"))
        for start, way in (((300.0, 600.0), (0, -500)), (overview, (-60, -40))):
            fitted = await view.get_attribute("style")
            await page.mouse.move(*start)
            await page.mouse.down()
            await page.mouse.move(start[0] + way[0], start[1] + way[1], steps=4)
            await page.mouse.up()
            await expect(view).not_to_have_attribute("style", fitted or "")
            await page.get_by_role("button", name="Fit View").click()
            await expect(view).to_have_attribute("style", fitted or "")
            for at in (0, 1):
                await expect(nodes(look).nth(at)).to_be_in_viewport(ratio=0.9)


async def test_the_bar_of_a_selection_leaves_names_free_and_another_flow_opens_with_nothing_selected(
    browser: Browser, catalogue: Catalogue
) -> None:
    flow = flow_with(catalogue, "ChatInput", "ChatOutput")
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow_id = await opened(look, flow)
        await nodes(look).first.locator("header").click()
        bar = page.get_by_role("toolbar", name="Selected components")
        await bar.get_by_role("button", name="Duplicate").click()
        await expect(nodes(look)).to_have_count(3)
        await page.get_by_role("button", name="Fit View").click()
        for at in range(3):
            await expect(nodes(look).nth(at)).to_be_in_viewport(ratio=0.9)
        place = await bar.bounding_box()
        tops = [await one.bounding_box() for one in await page.locator(".node > header").all()]
        assert place is not None
        assert all(top is not None and top["y"] + top["height"] <= place["y"] for top in tops)
        exported = await stored(look, flow_id)
        await page.evaluate("() => { location.hash = '#/'; }")
        await expect(page.get_by_role("link", name="Mine")).to_be_visible()
        made = await look.live.client.post("/api/v1/flows", json={"name": "Copy", "data": exported["data"]})
        await page.evaluate(f"() => {{ location.hash = '#/flow/{made.json()['id']}'; }}")
        await expect(nodes(look)).to_have_count(3)
        await expect(page.locator(".react-flow__node.selected")).to_have_count(0)
        await expect(bar).to_have_count(0)
