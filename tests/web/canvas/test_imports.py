"""Flows that are brought in although their components share ids: none is lost, and the page says so."""

import json
from copy import deepcopy
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from flows.spec import build
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import chosen, flow_with, nodes, opened, stored
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio

DROP = """([selector, files]) => {
  const data = new DataTransfer();
  for (const [name, text] of files) data.items.add(new File([text], name));
  const box = document.querySelector(selector).getBoundingClientRect();
  const at = {clientX: box.x + box.width / 3, clientY: box.y + box.height / 3};
  for (const kind of ["dragover", "drop"]) {
    document.querySelector(selector).dispatchEvent(
      new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true, ...at}));
  }
}"""
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def echo(catalogue: Catalogue) -> Any:
    flow = build(ECHO, catalogue).flow
    assert flow is not None
    return flow.to_json()


def doubled(catalogue: Catalogue) -> JsonObject:
    """An echo whose components all have the same id."""
    document = deepcopy(echo(catalogue))
    for one in document["data"]["nodes"]:
        one["id"] = one["data"]["id"] = "same-1"
    for edge in document["data"]["edges"]:
        edge["source"] = edge["target"] = "same-1"
        edge["data"]["sourceHandle"]["id"] = edge["data"]["targetHandle"]["id"] = "same-1"
    return document


def wiring(document: Any) -> tuple[int, set[tuple[str, str]]]:
    """How many ids there are, and which types are connected."""
    kinds = {one["id"]: one["data"]["type"] for one in document["data"]["nodes"]}
    return len(kinds), {(kinds[edge["source"]], kinds[edge["target"]]) for edge in document["data"]["edges"]}


async def test_files_that_are_dropped_together_are_all_put_on_the_canvas_beside_each_other(
    browser: Browser, catalogue: Catalogue
) -> None:
    text = json.dumps(echo(catalogue))
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, echo(catalogue))
        await look.page.evaluate(DROP, [".react-flow__pane", [["a.json", text], ["b.json", text]]])
        await expect(nodes(look)).to_have_count(6)
        await expect(look.page.locator(".node.selected")).to_have_count(4)
        await expect(look.page.locator(".notice")).to_contain_text("4 components had ids that others have too.")
        document = await stored(look, flow)
        assert wiring(document) == (6, {("ChatInput", "ChatOutput")})
        assert len(document["data"]["edges"]) == 3
        places = {(one["position"]["x"], one["position"]["y"]) for one in document["data"]["nodes"][2:]}
        assert len(places) == 4, "none stands on another"
        await look.page.get_by_role("button", name="Undo").click()
        await expect(nodes(look)).to_have_count(2)


async def test_a_flow_that_holds_an_id_twice_is_pasted_whole(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, flow_with(catalogue, "TextInput"))
        await chosen(look, "Text Input")
        await look.page.evaluate(PASTE, json.dumps(doubled(catalogue)))
        await expect(nodes(look)).to_have_count(3)
        await expect(look.page.locator(".notice")).to_contain_text("One component had an id that another one has too.")
        assert wiring(await stored(look, flow)) == (3, {("ChatInput", "ChatOutput")})


async def test_files_of_the_list_of_flows_are_imported_together_and_opened_whole(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await expect(page.get_by_text("No flows yet.")).to_be_visible()
        files = [
            {
                "name": f"{name}.json",
                "mimeType": "application/json",
                "buffer": json.dumps({**given, "name": name}).encode(),
            }
            for name, given in (("One", echo(catalogue)), ("Two", doubled(catalogue)))
        ]
        await page.locator("input[type=file]").set_input_files(files)  # pyright: ignore[reportArgumentType]  (a TypedDict)
        await expect(page.locator(".notice")).to_have_text("2 flows are imported.")
        dropped = [["three.json", json.dumps({**echo(catalogue), "name": "Three"})]]
        await page.evaluate(DROP, [".flows", dropped])
        await expect(page.locator(".cards").first.get_by_role("link")).to_have_count(3)
        await page.get_by_role("link", name="Two").click()
        await expect(nodes(look)).to_have_count(2)
        await expect(page.locator(".react-flow__edge")).to_have_count(1)
        await expect(page.locator(".notice")).to_contain_text("One component had an id that another one has too.")
        found = (await look.live.client.get(FLOWS)).json()["flows"]
        [two] = [one["id"] for one in found if one["name"] == "Two"]
        document = await stored(look, two)
        assert wiring(document) == (2, {("ChatInput", "ChatOutput")})
        assert len({node.id for node in Flow.from_json(document).nodes}) == 2


async def test_an_export_leaves_keys_out_that_were_typed_in_and_says_so(browser: Browser, catalogue: Catalogue) -> None:
    flow: Any = flow_with(catalogue, "LanguageModelComponent")
    template = flow["data"]["nodes"][0]["data"]["node"]["template"]
    template["api_key"] |= {"value": "sk-typed-in-by-hand", "load_from_db": False}
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, flow)
        async with look.page.expect_download() as started:
            await look.page.get_by_role("button", name="Export").click()
        exported = json.loads((await (await started.value).path()).read_text())
        fields = exported["data"]["nodes"][0]["data"]["node"]["template"]
        assert fields["api_key"]["value"] == ""
        assert fields["system_message"] == template["system_message"]
        await expect(look.page.locator(".notice")).to_contain_text("Keys that were typed in are not in the file.")
