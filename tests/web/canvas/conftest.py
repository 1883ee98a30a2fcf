"""Flows on a canvas: stored by the API, and opened in the browser."""

from copy import deepcopy
from typing import Any

from playwright.async_api import Locator, expect

from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.edits.new_nodes import new_node
from tests.server.live import FLOWS
from tests.web.conftest import Look


def flow_with(catalogue: Catalogue, *types: str) -> JsonObject:
    """A flow with one component of each type, side by side and without connections."""
    nodes: list[Any] = []
    for at, name in enumerate(types):
        known = catalogue.get(name)
        assert known is not None
        mine = deepcopy(new_node(known, f"{name}-{at}").raw)  # it shares its fields with the catalogue
        nodes.append({**mine, "position": {"x": at * 360, "y": 0}})
    return {"name": "Mine", "data": {"nodes": nodes, "edges": []}}


async def opened(look: Look, flow: JsonObject) -> str:
    """Store a flow and open it; returns its id."""
    flow_id: str = (await look.live.client.post(FLOWS, json=flow)).json()["id"]
    await look.page.goto(f"{look.base}/#/flow/{flow_id}")
    data: Any = flow["data"]
    await expect(nodes(look)).to_have_count(len(data["nodes"]))
    return flow_id


def nodes(look: Look) -> Locator:
    """The components on the canvas, without those that are only proposed."""
    return look.page.locator(".react-flow__node:not(.ghost)")


def node(look: Look, name: str) -> Locator:
    """A component by its title."""
    return look.page.get_by_role("article", name=name, exact=True)


async def stored(look: Look, flow_id: str) -> Any:
    """The flow as the server has it, once the page has saved."""
    await expect(look.page.locator(".saving")).to_have_text("Saved")
    return (await look.live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"]


async def value(look: Look, flow_id: str, field: str, at: int = 0) -> Any:
    """A field's value as the server has it."""
    flow = await stored(look, flow_id)
    return flow["data"]["nodes"][at]["data"]["node"]["template"][field]["value"]


async def chosen(look: Look, name: str) -> Locator:
    """Select a component by its header."""
    found = node(look, name)
    await found.locator("header").click()
    await expect(look.page.get_by_role("toolbar", name="Selected components")).to_be_visible()
    return found


async def middle(of: Locator) -> tuple[float, float]:
    """The middle of something on the screen."""
    box = await of.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def template_of(flow: JsonObject) -> dict[str, Any]:
    """The fields of a flow's first component."""
    data: Any = flow["data"]
    return data["nodes"][0]["data"]["node"]["template"]
