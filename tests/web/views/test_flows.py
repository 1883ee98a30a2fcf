"""The list of flows: templates to start from, flows brought in, searched, copied and deleted."""

import io
import json
import zipfile

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from tests.server.live import FLOWS
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, nodes
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio


async def test_a_template_becomes_a_flow_of_ones_own(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        templates = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Use"))
        title = await templates.first.locator("strong").inner_text()
        await templates.first.get_by_role("button").click()
        await expect(nodes(look)).not_to_have_count(0)
        await expect(page.locator(".react-flow__edge")).not_to_have_count(0)
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        assert page.url.endswith(f"/#/flow/{flow['id']}")
        await expect(page.get_by_role("textbox", name="Name")).to_have_value(flow["name"])
        assert title


async def test_flows_are_brought_in_together_searched_copied_and_deleted(
    browser: Browser, catalogue: Catalogue
) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name in ("Orders", "Hours"):
            packed.writestr(f"{name}.json", json.dumps({**flow_with(catalogue, "ChatInput"), "name": name}))
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flows = page.locator(".cards").first.get_by_role("link")
        await page.locator("input[type=file]").set_input_files(
            {"name": "all.zip", "mimeType": "application/zip", "buffer": archive.getvalue()}
        )
        await expect(flows).to_have_count(2)
        search = page.get_by_role("searchbox", name="Search")
        await search.fill("hour")
        await expect(flows).to_have_text(["Hours"])
        await search.fill("")
        await page.get_by_role("button", name="Duplicate: Orders").click()
        await expect(flows).to_have_count(3)
        page.once("dialog", lambda dialog: dialog.dismiss())
        await page.get_by_role("button", name="Delete: Hours").click()
        await expect(flows).to_have_count(3)
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Delete: Hours").click()
        await expect(flows).to_have_count(2)
        names = [flow["name"] for flow in (await look.live.client.get(FLOWS)).json()["flows"]]
        assert len(names) == 2
        assert "Hours" not in names
