"""A flow of 300 components on the page: brought in, saved, opened, and dragged without drawing what stays the same."""

import asyncio
import json
from collections.abc import Mapping

import pytest
from playwright.async_api import Browser, Route, expect

from benchmarks.specs import built, chain
from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.server.live import FLOWS
from tests.shared.scripted_assistant import assistant
from tests.web.calls import Calls, counting
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
COUNT = 300
STILL = ("component", "toolbar", "selection", "message field", "run bar", "ports")
"""What a drag does not draw anew."""
MIDDLE = """() => {
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(document.querySelector(".canvas"));
  const places = [...document.querySelectorAll(".react-flow__node header")].map(middle);
  return places.sort((one, other) => Math.hypot(one[0] - x, one[1] - y) - Math.hypot(other[0] - x, other[1] - y))[0];
}"""
"""The middle of the header that is nearest to the middle of the canvas: a drag from there does not move the view."""
IS_AT = """([x, y]) => {
  const box = document.querySelector(".react-flow__node.dragging header").getBoundingClientRect();
  return Math.abs(box.x + box.width / 2 - x) < 3 && Math.abs(box.y + box.height / 2 - y) < 3;
}"""


WATCH = """() => {
  const kind = (one) => {
    const element = one instanceof Element ? one : one.parentElement;
    if (element.closest(".react-flow__node.dragging") !== null) return "component";
    const edge = element.closest(".react-flow__edge");
    if (edge !== null) return `connection ${edge.dataset.id}`;
    return element.closest(".react-flow__minimap") === null ? element.outerHTML.slice(0, 120) : "overview";
  };
  window.changed_ = new Set();
  window.written_ = [];
  window.watch_ = new MutationObserver((all) => { for (const { target } of all) window.changed_.add(kind(target)); });
  window.watch_.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function (...given) { window.written_.push(given[0]); setItem.apply(this, given); };
}"""
CHANGED = "() => { window.watch_.disconnect(); return [[...window.changed_], window.written_]; }"


@pytest.fixture
def large(catalogue: Catalogue) -> JsonObject:
    return {**built(chain(COUNT), catalogue).to_json(), "name": "Large"}


async def shown(look: Look, large: JsonObject) -> str:
    """Store the flow, and open it from the list; returns its id."""
    flow_id: str = (await look.live.client.post(FLOWS, json=large, timeout=120)).raise_for_status().json()["id"]
    await look.page.reload()
    await look.page.get_by_role("link", name="Large").click()
    await expect(look.page.locator(".react-flow__node").first).to_be_visible(timeout=60_000)
    return flow_id


async def saved(look: Look) -> None:
    """Wait until the page has saved; the flow has some megabytes, which a busy server takes seconds for."""
    await expect(look.page.locator(".saving")).to_have_text("Saved", timeout=60_000)


async def test_a_flow_of_300_components_is_brought_in_opened_changed_and_saved(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        body = json.dumps(large).encode()
        assert len(body) > 1_000_000
        await page.locator("input[type=file]").set_input_files(
            {"name": "large.json", "mimeType": "application/json", "buffer": body}
        )
        await page.get_by_role("link", name="Large").click(timeout=60_000)
        await expect(page.locator(".react-flow__minimap-node")).to_have_count(COUNT, timeout=60_000)
        await page.get_by_role("textbox", name="Name").fill("Larger")
        flow_id = page.url.rpartition("/")[2]
        await saved(look)
        kept = (await look.live.client.get(f"{FLOWS}/{flow_id}")).json()
        assert (kept["name"], kept["node_count"], kept["version"]) == ("Larger", COUNT, 2)


async def test_opening_draws_the_components_in_view_and_goes_to_any_other(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        calls = await counting(look)
        flow_id = await shown(look, large)
        await expect(page.locator(".react-flow__minimap-node")).to_have_count(COUNT)
        counts = await calls.taken()
        assert 0 < counts["component"] < COUNT, "each of those in view a few times, and no other"
        assert min(counts[name] for name in ("canvas", "connection", "toolbar", "message field", "run bar")) > 0
        await page.get_by_role("button", name="Add component").click()
        await page.get_by_role("searchbox", name="Search").fill("text input")
        await page.get_by_role("dialog").get_by_role("button", name="Text Input").first.click()
        added = page.locator(".react-flow__node").filter(has=page.get_by_role("article", name="Text Input"))
        await expect(added).to_be_focused()
        await expect(added).to_be_in_viewport()
        await saved(look)
        kept = (await look.live.client.get(f"{FLOWS}/{flow_id}")).json()
        assert kept["node_count"] == COUNT + 1


async def dragged(look: Look, calls: Calls, moves: int) -> Mapping[str, int]:
    """Drag the component in the middle of the canvas, and drop it; returns what was drawn meanwhile."""
    page = look.page
    x, y = await page.evaluate(MIDDLE)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 4, y + 4, steps=2)
    await expect(page.locator(".react-flow__node.dragging")).to_have_count(1)
    await expect(page.get_by_role("toolbar", name="Selected components")).to_be_visible()
    await calls.taken()
    for step in range(moves):
        await page.mouse.move(x + 4 + step % 20, y + 5 + step % 20)
    await page.mouse.move(x + 40, y + 30)
    await page.wait_for_function(IS_AT, arg=[x + 40, y + 30])
    counts = await calls.taken()
    await page.mouse.up()
    await saved(look)
    return counts


async def test_a_drag_draws_the_connections_of_what_is_dragged_and_nothing_else(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await shown(look, large)
        calls = await counting(look)
        few, many = await dragged(look, calls, 5), await dragged(look, calls, 40)
    for counts in (few, many):
        assert {name: counts[name] for name in STILL} == dict.fromkeys(STILL, 0)
        assert 0 < counts["connection"] <= 2 * counts["canvas"], "a component of a chain has two connections"


async def test_what_the_server_says_of_a_flow_during_a_drag_draws_nothing_that_stays_the_same(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        answer, held = asyncio.Event(), asyncio.Event()

        async def hold(route: Route) -> None:
            held.set()
            await answer.wait()
            await route.continue_()

        await page.route("**/needs", hold)
        await shown(look, large)
        await held.wait()
        calls = await counting(look)
        x, y = await page.evaluate(MIDDLE)
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x + 4, y + 4, steps=2)
        await expect(page.get_by_role("toolbar", name="Selected components")).to_be_visible()
        await calls.taken()
        async with page.expect_response("**/needs"):
            answer.set()
        await page.mouse.move(x + 40, y + 30)
        await page.wait_for_function(IS_AT, arg=[x + 40, y + 30])
        counts = await calls.taken()
        assert counts["canvas"] > 0
        assert {name: counts[name] for name in STILL} == dict.fromkeys(STILL, 0)
        await page.mouse.up()
        await saved(look)


async def test_writing_a_message_beside_300_components_draws_none_of_them(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await shown(look, large)
        calls = await counting(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.click()
        await calls.taken()
        await box.press_sequentially("a word or two")
        await expect(box).to_have_value("a word or two")
        counts = await calls.taken()
        assert counts["message field"] > 0
        assert {name: counts[name] for name in ("canvas", "component", "connection", "toolbar")} == dict.fromkeys(
            ("canvas", "component", "connection", "toolbar"), 0
        )


async def test_a_drag_changes_the_component_and_its_connections_and_stores_nothing_before_the_drop(
    browser: Browser, catalogue: Catalogue, large: JsonObject
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await shown(look, large)
        x, y = await page.evaluate(MIDDLE)
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x + 4, y + 4, steps=2)
        await expect(page.get_by_role("toolbar", name="Selected components")).to_be_visible()
        await page.wait_for_function(IS_AT, arg=[x + 4, y + 4])
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))
        await page.evaluate(WATCH)
        for step in range(20):
            await page.mouse.move(x + 5 + step, y + 5 + step)
        await page.mouse.move(x + 40, y + 30)
        await page.wait_for_function(IS_AT, arg=[x + 40, y + 30])
        changed, written = await page.evaluate(CHANGED)
        assert (sent, written) == ([], [])
        connections = {one for one in changed if one.startswith("connection ")}
        assert 0 < len(connections) <= 2, "a component of a chain has two connections"
        assert set(changed) - connections == {"component", "overview"}
        await page.mouse.up()
        await saved(look)
        assert "PUT" in sent
