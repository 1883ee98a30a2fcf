"""The list of flows: templates to start from, flows brought in, searched, copied and deleted."""

import io
import json
import zipfile

import pytest
from playwright.async_api import Browser, Route, expect

from flows.catalogue import Catalogue
from tests.flows.edits.test_updates import earlier
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO, flow_of, node_id
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import flow_with, nodes, opened
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio


async def test_a_template_becomes_a_flow_of_ones_own(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        templates = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Start with this"))
        title = await templates.first.locator("strong").inner_text()
        await templates.first.get_by_role("button").click()
        await expect(nodes(look)).not_to_have_count(0)
        await expect(page.locator(".react-flow__edge")).not_to_have_count(0)
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        assert page.url.endswith(f"/#/flow/{flow['id']}")
        await expect(page.get_by_role("textbox", name="Name")).to_have_value(flow["name"])
        assert title


async def test_flows_of_an_earlier_engine_are_marked_with_their_components(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        flow = flow_of(ECHO, catalogue)
        old = earlier(flow, node_id(flow, "ChatInput"))
        for name, one in (("Old", old), ("New", flow)):
            (await look.live.client.post(FLOWS, json={**one.to_json(), "name": name})).raise_for_status()
        await look.page.reload()
        cards = look.page.locator(".cards").first.get_by_role("listitem")
        await expect(cards.filter(has_text="Old").locator(".badge")).to_have_text("Of an earlier engine: ChatInput")
        await expect(cards.filter(has_text="New").locator(".badge")).to_have_count(0)


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


async def test_an_import_says_what_came_in_and_a_success_takes_the_last_failure_away(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page, notice = look.page, look.page.locator(".notice")
        await expect(page.get_by_text("No flows yet.")).to_be_visible()
        chooser = page.locator("input[type=file]")
        await chooser.set_input_files({"name": "a.json", "mimeType": "application/json", "buffer": b"{broken"})
        await expect(notice).to_contain_text("This file holds no flow. Choose a JSON file")
        none = [
            {"name": name, "mimeType": "application/json", "buffer": text}
            for name, text in (("list.json", b'{"a": 1}'), ("text.json", b"Hours"))
        ]
        await chooser.set_input_files(none)  # pyright: ignore[reportArgumentType]  (a TypedDict)
        await expect(notice).to_contain_text("list.json: This file holds no flow.")
        said = (await notice.inner_text()).split("\n")
        assert [line.partition(":")[0] for line in said if ".json:" in line] == ["list.json", "text.json"]
        body = json.dumps({**flow_with(catalogue, "ChatInput"), "name": "Hours"}).encode()
        await chooser.set_input_files({"name": "b.json", "mimeType": "application/json", "buffer": body})
        await expect(notice).to_have_text("One flow is imported.")
        look.problems.clear()  # the console tells of the file that was refused


async def test_a_flow_that_is_not_there_says_so_and_leads_to_the_others(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await look.page.goto(f"{look.base}/#/flow/does-not-exist")
        await expect(look.page.get_by_role("alert")).to_have_text("There is no such flow. It may have been deleted.")
        await look.page.get_by_role("link", name="All flows").click()
        await expect(look.page.get_by_role("heading", name="Templates")).to_be_visible()
        look.problems.clear()  # the console tells of the flow that is not there


async def test_a_flow_whose_name_is_no_text_is_opened_and_named(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        odd = {**flow_with(catalogue, "ChatInput"), "name": {"a": 1}}
        await expect(page.get_by_text("No flows yet.")).to_be_visible()
        await page.locator("input[type=file]").set_input_files(
            {"name": "odd.json", "mimeType": "application/json", "buffer": json.dumps(odd).encode()}
        )
        await page.locator(".cards").first.get_by_role("link").click()
        await expect(nodes(look)).to_have_count(1)
        await page.get_by_role("textbox", name="Name").fill("Even")
        await expect(page.locator(".saving")).to_have_text("Saved")
        [flow] = (await look.live.client.get(FLOWS)).json()["flows"]
        assert flow["name"] == "Even"


async def test_a_flow_that_is_renamed_and_left_at_once_has_its_new_name_in_the_list(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        flow = await opened(look, flow_with(catalogue, "ChatInput"))

        order: list[str] = []

        async def store(route: Route) -> None:
            reply = await route.fetch()
            order.append(route.request.method)
            await route.fulfill(response=reply)

        async def listed(route: Route) -> None:
            order.append("list")
            await route.continue_()

        await page.route(f"**/api/v1/flows/{flow}", store)
        await page.route("**/api/v1/flows?*", listed)
        await page.get_by_role("textbox", name="Name").fill("Renamed")
        await page.get_by_role("link", name="All flows").click()
        await expect(page.locator(".cards").first.get_by_role("link")).to_have_text(["Renamed"])
        assert order[:2] == ["PUT", "list"], "the list is asked for once the name is stored"
