"""The views beside the flows, each at an address of its own, and the saved tests of a flow."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from scripts.page import ROOT
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import looking
from tests.web.states import BUILD, built

pytestmark = pytest.mark.anyio
SCORES = ROOT / "evals" / "baselines" / "demo.jsonl"


async def test_users_are_added_given_a_token_once_and_revoked(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await page.goto(f"{look.base}/#/users")
        await page.get_by_label("Name", exact=True).fill("ada")
        await page.get_by_label("Run", exact=True).uncheck()
        await page.get_by_label("Days until the token expires").fill("30")
        await page.get_by_role("button", name="Add a user").click()
        given = page.get_by_role("group", name="Token of ada")
        token = await given.locator("output").inner_text()
        headers = {"Authorization": f"Bearer {token}"}
        seen = (await look.live.stranger.get("/api/v1/me", headers=headers)).json()["user"]
        assert seen["name"] == "ada"
        assert "run" not in seen["scopes"]
        await given.get_by_role("button", name="Close").click()
        assert token not in await page.content()

        await page.get_by_role("button", name="New token: ada").click()
        fresh = await given.locator("output").inner_text()
        assert fresh != token
        assert (await look.live.stranger.get("/api/v1/me", headers=headers)).status_code == 401
        page.once("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Revoke: ada").click()
        await expect(page.get_by_role("row", name="ada")).to_contain_text("Revoked")


async def test_evaluations_are_read_line_by_line(browser: Browser, catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "may").mkdir()
    (tmp_path / "may" / "scores.jsonl").write_bytes(SCORES.read_bytes())
    (tmp_path / "report.html").write_text("<h1>Report</h1>")
    settings = ServerSettings(evaluations=tmp_path)
    async with looking(browser, assistant(catalogue), settings=settings) as look:
        page = look.page
        await page.goto(f"{look.base}/#/evaluations")
        await expect(page.get_by_role("link", name="report.html", exact=True)).to_have_attribute("download", "")
        await page.get_by_role("link", name="may/scores.jsonl", exact=True).click()
        await expect(page.get_by_role("heading", name="may/scores.jsonl")).to_be_visible()
        await expect(page.locator(".entries > li")).to_have_count(20)
        await page.get_by_role("button", name="Next").click()
        await expect(page.get_by_text("21–40 of")).to_be_visible()
        await page.reload()
        await expect(page.locator(".entries > li")).to_have_count(20)


async def test_usage_is_shown_by_day_and_model(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", "One."))) as look:
        await look.live.client.post("/api/v1/agentic/assist", json={"input_value": "Which?"})
        await look.page.goto(f"{look.base}/#/usage")
        await expect(look.page.get_by_role("columnheader", name="Model")).to_be_visible()
        await expect(look.page.locator("tbody tr")).not_to_have_count(0)
        await look.page.get_by_label("All users").check()
        await expect(look.page.get_by_role("columnheader", name="User")).to_be_visible()


async def test_a_provider_is_given_a_key_that_is_never_shown(browser: Browser, catalogue: Catalogue) -> None:
    key = "sk-a-key-of-this-test-1234"
    async with looking(browser, assistant(catalogue)) as look:
        await look.page.goto(f"{look.base}/#/providers")
        await expect(look.page.get_by_text("Default model")).to_contain_text("Demo planner")
        card = look.page.locator("li.card", has_text="Groq")
        await card.get_by_label("GROQ_API_KEY").fill(key)
        await card.get_by_role("button", name="Save: Groq").click()
        await expect(card).to_contain_text("Default")
        assert key not in await look.page.content()
        look.page.once("dialog", lambda dialog: dialog.dismiss())
        await card.get_by_role("button", name="Remove what is stored: Groq").click()
        await expect(card).to_contain_text("Ready to use")
        look.page.once("dialog", lambda dialog: dialog.accept())
        await card.get_by_role("button", name="Remove what is stored: Groq").click()
        await expect(card).to_contain_text("Not set up")


async def test_a_reply_becomes_a_test_and_a_failure_shows_both_values(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("hello")] * 4 + [ran("goodbye")])
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD), runner)) as look:
        page = look.page
        await built(look)
        runner.results = [ran("hello"), ran("hello"), ran("goodbye")]
        await page.get_by_role("tab", name="Try the flow").click()
        await page.get_by_role("textbox", name="Input of the run").fill("hi")
        await page.get_by_role("textbox", name="Input of the run").press("Enter")
        await page.get_by_role("button", name="Save as a test").click()
        await expect(page.get_by_text("Saved as a test.")).to_be_visible()
        await page.get_by_role("tab", name="Tests").click()
        await page.get_by_role("button", name="Run the tests").click()
        await expect(page.get_by_text("1 of 1 passed")).to_be_visible()
        await page.reload()
        await page.get_by_role("button", name="Run the tests").click()
        await expect(page.get_by_text("0 of 1 passed")).to_be_visible()
        await expect(page.locator(".tests ins")).to_have_text("hello")
        await expect(page.locator(".tests del")).to_have_text("goodbye")
        await page.get_by_label("Input of the test").fill("ho")
        await page.get_by_label("What must come out").fill("Ho")
        await page.get_by_role("button", name="Add this test").click()
        await expect(page.locator(".tests > li")).to_have_count(2)
