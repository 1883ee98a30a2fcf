"""Flows that somebody else wrote, with the wrong things in the right places."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, node, opened, template_of
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
MARKUP = "<img src=http://elsewhere.example/a.png onerror=alert(1)><script>alert(2)</script>"
NOTE = (
    "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) ![c](http://elsewhere.example/p.png) "
    "<iframe src=http://elsewhere.example></iframe>"
)


def with_node(flow: JsonObject, name: str, node_type: str = "genericNode", **definition: Any) -> JsonObject:
    """The flow with one more component, whose definition is whatever is given."""
    data: Any = flow["data"]
    place = {"x": 360 * len(data["nodes"]), "y": 0}
    inner: JsonObject = {
        "id": name,
        "type": "note" if node_type == "noteNode" else name,
        "node": {"template": {}, **definition},
    }
    data["nodes"].append({"id": name, "type": node_type, "position": place, "data": inner})
    return flow


async def test_markup_in_names_and_notes_is_text_that_does_and_loads_nothing(
    browser: Browser, catalogue: Catalogue
) -> None:
    flow = with_node(flow_with(catalogue, "ChatInput"), "Odd", display_name=MARKUP)
    flow = with_node(flow, "Note", "noteNode", description=NOTE)
    async with looking(browser, assistant(catalogue)) as look:  # fails on any request to another place
        look.page.on("dialog", lambda dialog: look.problems.append(dialog.message))
        await opened(look, {**flow, "name": MARKUP})
        await expect(node(look, MARKUP).locator("strong")).to_have_text(MARKUP)
        note = look.page.get_by_role("article", name="Note")
        await expect(note).to_contain_text("a b c")
        for name in ("a", "b"):
            await expect(note.get_by_role("link", name=name, exact=True)).to_have_count(0)
        assert await look.page.locator(".workspace img, .workspace iframe, .workspace script").count() == 0


async def test_a_component_whose_fields_make_no_sense_says_so_and_leaves_the_rest(
    browser: Browser, catalogue: Catalogue
) -> None:
    table = {"type": "table", "show": True, "value": [], "table_schema": [None]}
    flow = with_node(flow_with(catalogue, "ChatInput"), "Broken", display_name="Broken", template={"rows": table})
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow)
        await expect(node(look, "Broken")).to_contain_text("cannot be read")
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Input Text")).to_be_visible()
        _forget_caught(look)


async def test_odd_titles_and_ports_and_prototype_names_are_drawn(browser: Browser, catalogue: Catalogue) -> None:
    flow = flow_with(catalogue, "ChatInput")
    template_of(flow)["__proto__"] = {"type": "str", "show": True, "display_name": "Proto", "value": "kept"}
    outputs = [None, 7, {"name": {"a": 1}}, {"name": "out", "display_name": {"a": 1}, "types": "Message"}]
    flow = with_node(flow, "Odd", display_name={"a": 1}, outputs=outputs)
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow)
        await expect(node(look, "Odd").locator(".port-row.output")).to_have_text("out")
        await expect(node(look, "Chat Input").get_by_role("textbox", name="Proto")).to_have_value("kept")
        assert await look.page.evaluate("({}).value") is None


async def test_an_address_that_was_cut_off_opens_the_page(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await look.page.goto(f"{look.base}/#/settings/%E0%A4")
        await look.page.reload()
        await expect(look.page.get_by_role("heading", name="Settings").first).to_be_visible()


def _forget_caught(look: Look) -> None:
    """What a boundary has caught stands in the console, for whoever mends it."""
    look.problems[:] = [one for one in look.problems if not one.startswith("TypeError")]


async def test_a_flow_whose_name_is_no_text_is_shown_and_the_next_one_too(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, {**flow_with(catalogue, "ChatInput"), "name": {"a": 1}})
        await expect(node(look, "Chat Input")).to_be_visible()
        await expect(look.page.get_by_text("Something went wrong")).to_have_count(0)
        await opened(look, flow_with(catalogue, "ChatOutput"))
        await expect(node(look, "Chat Output")).to_be_visible()


async def test_components_beyond_all_bounds_are_drawn_where_lines_reach_them(
    browser: Browser, catalogue: Catalogue
) -> None:
    flow = flow_with(catalogue, "ChatInput", "ChatOutput")
    for document, place in zip(as_nodes(flow), ({"x": 1e300, "y": -1e300}, {"x": "left", "y": None}), strict=True):
        document["position"] = place
    async with looking(browser, assistant(catalogue)) as look:  # fails on any error in the console
        await opened(look, flow)
        await expect(node(look, "Chat Output")).to_be_attached()
        assert "e+300" not in await look.page.locator(".react-flow__viewport").inner_html()


async def test_a_long_name_stays_in_its_component(browser: Browser, catalogue: Catalogue) -> None:
    flow = with_node(flow_with(catalogue), "Long", display_name="W" * 400)
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow)
        shown = node(look, "W" * 400).locator("header strong")
        assert await shown.evaluate("title => title.scrollWidth <= title.closest('article').clientWidth")


async def test_the_list_of_flows_shows_names_without_marks_of_direction_and_not_without_end(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        for name in ("invoice\u202egnp.exe", "N" * 5_000):
            await look.live.client.post("/api/v1/flows", json={**flow_with(catalogue), "name": name})
        await look.page.reload()
        await expect(look.page.get_by_role("link", name="invoicegnp.exe")).to_be_visible()
        long = look.page.get_by_role("link", name="NNNN")
        await expect(long).to_be_visible()
        box = await long.bounding_box()
        assert box is not None
        assert box["height"] < 80


def as_nodes(flow: JsonObject) -> list[Any]:
    """The components of a flow as they stand in it."""
    data: Any = flow["data"]
    return list(data["nodes"])
