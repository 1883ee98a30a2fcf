"""Jobs on the page: what goes on where, what waits for the user, and how it is ended or tried again."""

import pytest
from playwright.async_api import Browser, expect

from flows.catalogue import Catalogue
from runtime.jobs.claims import Claims
from runtime.jobs.job import Outcome
from runtime.results import RunError
from server.settings import ServerSettings
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import Look, looking
from tests.web.states import PLAN, planned

pytestmark = pytest.mark.anyio


async def called(look: Look, catalogue: Catalogue) -> str:
    """Call a webhook of a flow; returns the id of its job."""
    flow = {**flow_of(ECHO, catalogue).to_json(), "name": "Orders"}
    flow_id = (await look.live.client.post(FLOWS, json=flow)).json()["id"]
    hook = (await look.live.client.post(f"{FLOWS}/{flow_id}/schedules", json={"kind": "webhook"})).json()
    made = await look.live.stranger.post(hook["url"], headers={"Authorization": f"Bearer {hook['token']}"}, json={})
    return made.raise_for_status().json()["job"]


async def test_a_job_is_followed_ended_tried_again_and_opened(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(hangs=True, results=[ran("**said**")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        page = look.page
        job = await called(look, catalogue)
        await page.goto(f"{look.base}/#/jobs")
        item = page.get_by_role("listitem", name="Orders")
        await expect(item.locator(".badge")).to_have_text("Running")
        worker = (await look.live.client.get(f"/api/v1/jobs/{job}")).json()["worker"]
        await expect(item.locator("small")).to_contain_text(f"on {worker}")
        await item.get_by_role("button", name="Cancel: Orders").click()
        await expect(item.locator(".badge")).to_have_text("Cancelled")
        runner.hangs = False
        await page.get_by_label("State").select_option("failed")
        await expect(page.get_by_text("No jobs.")).to_be_visible()
        await page.get_by_label("State").select_option("")
        await item.get_by_role("button", name="Try again: Orders").click()
        await expect(item.locator(".badge")).to_have_text("Done")
        await item.get_by_role("link", name="Orders").click()
        assert page.url.endswith(f"/#/jobs/{job}")
        await expect(page.locator(".markdown strong")).to_have_text("said")
        await page.get_by_role("link", name="All jobs").click()
        await expect(item).to_be_visible()


async def test_a_job_that_no_worker_has_taken_is_queued_and_says_since_when(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue), settings=ServerSettings(work_here=False)) as look:
        page = look.page
        job = await called(look, catalogue)
        known = (await look.live.client.get(f"/api/v1/jobs/{job}")).json()
        assert (known["state"], known["worker"]) == ("queued", "")
        await page.goto(f"{look.base}/#/jobs")
        item = page.get_by_role("listitem", name="Orders")
        await expect(item.locator(".badge")).to_have_text("Queued")
        await expect(item.locator("small")).to_contain_text("since ")
        await expect(item.locator("small")).not_to_contain_text(" on ")
        await page.get_by_label("State").select_option("running")
        await expect(page.get_by_text("No jobs.")).to_be_visible()
        await page.get_by_label("State").select_option("queued")
        await item.get_by_role("button", name="Cancel: Orders").click()
        await expect(page.get_by_text("No jobs.")).to_be_visible()


async def test_a_job_whose_worker_has_died_is_resumed_by_another_and_says_so(
    browser: Browser, catalogue: Catalogue
) -> None:
    who = assistant(catalogue)
    async with looking(browser, who, settings=ServerSettings(work_here=False)) as look:
        await called(look, catalogue)
        dead, other = Claims(who.database, "dead"), Claims(who.database, "other")
        assert len(await dead.claim(["runs"], 1)) == 1
        await look.page.goto(f"{look.base}/#/jobs")
        item = look.page.get_by_role("listitem", name="Orders")
        await expect(item.locator("small")).to_contain_text("on dead")
        await expect(item.locator(".badge")).to_have_text(["Running"])
        assert await other.beat() == 1, "the dead one gives no sign of life, and its job goes back"
        [again] = await other.claim(["runs"], 1)
        await expect(item.locator(".badge")).to_have_text(["Resumed", "Running"])
        await expect(item.locator("small")).to_contain_text("on other · begun 2 times")
        await other.finish(again, Outcome(result={"output": "said"}))
        await expect(item.locator(".badge")).to_have_text(["Done"])


async def test_a_job_that_failed_says_why(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran(error=RunError(code="crash", message="It broke."))])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await called(look, catalogue)
        await look.page.goto(f"{look.base}/#/jobs")
        item = look.page.get_by_role("listitem", name="Orders")
        await expect(item.locator(".badge.bad")).to_have_text("Failed")
        await expect(item).to_contain_text("It broke.")


async def test_what_waits_for_the_user_leads_to_its_flow(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*PLAN))) as look:
        page = look.page
        await planned(look)
        place = page.url
        await page.goto(f"{look.base}/#/jobs")
        turns = page.get_by_role("region", name="Assistant")
        await expect(turns.locator(".badge")).to_have_text("Waits for you")
        await expect(turns.locator("small")).to_contain_text("since ")
        await turns.get_by_role("link").click()
        await expect(page.get_by_role("region", name="Plan").get_by_role("button", name="Approve")).to_be_visible()
        assert page.url == place


async def test_a_batch_shows_how_far_it_is(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("said"), ran(error=RunError(code="crash", message="It broke.")), ran("said")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        flow = {**flow_of(ECHO, catalogue).to_json(), "name": "Orders"}
        flow_id = (await look.live.client.post(FLOWS, json=flow)).json()["id"]
        await look.live.client.post(f"{FLOWS}/{flow_id}/batch", json={"inputs": ["a", "b", "c"], "id": "b"})
        await look.page.goto(f"{look.base}/#/jobs")
        item = look.page.get_by_role("region", name="Batches").get_by_role("listitem", name="Orders")
        await expect(item.locator("small")).to_contain_text("3 of 3 · Failed: 1")
        await item.get_by_role("button", name="Try again: Orders").click()
        await expect(item.locator("small")).not_to_contain_text("Failed")
