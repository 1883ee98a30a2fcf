"""What a flow still needs is settled in the panel: files, keys and bundles of components."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import JsonObject
from tests.shared.flow_texts import AGENT, flow_of
from tests.shared.scripted_assistant import assistant
from tests.web.canvas.conftest import opened, value
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
FILE = "nodes:\n  f: File\n  b: ChatOutput\nedges:\n  f.message -> b.input_value\nconfig:\n  f.path: hours.txt\n"


def card(look: Look) -> Locator:
    """The card that says what is needed."""
    return look.page.get_by_role("region", name="What the flow still needs")


def needs_a_bundle(who: Assistant, catalogue: Catalogue) -> tuple[JsonObject, str]:
    """A flow with a component that no installed bundle has, and the name of the bundle that has it."""
    bundle = next(one for one in who.bundles.every() if not any(t in catalogue for t in who.bundles.types_of(one)))
    kind = who.bundles.types_of(bundle)[0]
    node: JsonObject = {"id": "n-1", "type": "genericNode", "position": {"x": 0, "y": 0}}
    node |= {"data": {"id": "n-1", "type": kind, "node": {"display_name": "Theirs", "template": {}, "outputs": []}}}
    return {"name": "B", "data": {"nodes": [node], "edges": []}}, bundle.name


async def test_a_file_that_is_missing_is_uploaded_on_the_spot(
    browser: Browser, catalogue: Catalogue, tmp_path: Path
) -> None:
    hours = tmp_path / "times.txt"
    hours.write_text("nine to five")
    async with looking(browser, assistant(catalogue)) as look:
        flow = await opened(look, {**flow_of(FILE, catalogue).to_json(), "name": "Reader"})
        await expect(card(look)).to_contain_text("There is no file hours.txt.")
        await card(look).locator("input[type=file]").set_input_files(hours)
        await expect(card(look)).to_have_count(0)
        assert "times.txt" in str(await value(look, flow, "path"))


async def test_a_key_that_is_missing_is_kept_and_never_shown(browser: Browser, catalogue: Catalogue) -> None:
    spec = f"{AGENT}config:\n  g.api_key: MY_SEARCH_KEY\n"
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, {**flow_of(spec, catalogue).to_json(), "name": "Helper"})
        field = card(look).get_by_label("MY_SEARCH_KEY")
        await expect(field).to_have_attribute("type", "password")
        await field.fill("a-value-of-this-test")
        await card(look).get_by_role("button", name="Keep").click()
        await expect(field).to_have_count(0)
        kept = (await look.live.client.get("/api/v1/variables")).json()["variables"]
        assert [one["name"] for one in kept] == ["MY_SEARCH_KEY"]
        assert "a-value-of-this-test" not in await look.page.content()


async def test_a_bundle_that_is_missing_is_named_and_an_install_that_fails_says_why(
    browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue)
    flow, bundle = needs_a_bundle(who, catalogue)
    async with looking(browser, who) as look:
        await opened(look, flow)
        await expect(card(look)).to_contain_text(bundle)
        wrong = {"state": "failed", "error": "There is no network.", "fix": "Try again later.", "progress": ""}
        await look.page.route("**/api/v1/bundles/*/install", lambda route: route.fulfill(json=wrong))
        await card(look).get_by_role("button", name="Install").click()
        await expect(card(look).get_by_role("status")).to_have_text("There is no network. Try again later.")
        await look.page.unroute("**/api/v1/bundles/*/install")
        done = {**wrong, "state": "installing", "error": "", "fix": "", "progress": "Downloading"}
        await look.page.route("**/api/v1/bundles/*/install", lambda route: route.fulfill(json=done))
        await look.page.route("**/api/v1/bundles/*", lambda route: route.fulfill(json={**done, "state": "installed"}))
        await look.page.route("**/api/v1/flows/*/needs", lambda route: route.fulfill(json={"needs": []}))
        await card(look).get_by_role("button", name="Install").click()
        await expect(card(look)).to_have_count(0)
