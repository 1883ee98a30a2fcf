"""A run on the canvas: its path, what the connections carried, where it failed; and versions compared and restored."""

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunError, RunMetrics, RunResult
from runtime.run_events import NodeFinished, NodeStarted
from tests.server.live import FLOWS
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import node, nodes, opened, stored
from tests.web.conftest import Look, looking

pytestmark = pytest.mark.anyio
LONG = "good morning to everybody who is here"


@pytest.fixture
def echo(catalogue: Catalogue) -> tuple[JsonObject, list[str]]:
    flow = flow_of(ECHO, catalogue)
    return {**flow.to_json(), "name": "Echo"}, [one.id for one in flow.components]


async def run(look: Look, text: str) -> None:
    """Say something to the flow."""
    await look.page.get_by_role("tab", name="Try the flow").click()
    box = look.page.get_by_role("textbox", name="Input of the run")
    await box.fill(text)
    await box.press("Enter")


async def test_connections_show_what_they_carried_short_and_whole(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, ids = echo
    result = RunResult(
        run_id="r", output=LONG, outputs={ids[1]: LONG}, metrics=RunMetrics(seconds=0.1), nodes=dict.fromkeys(ids, LONG)
    )
    events = [
        event
        for one in ids
        for event in (NodeStarted(node=one, iteration=1), NodeFinished(node=one, iteration=1, seconds=0.1, ok=True))
    ]
    runner = StandInRunner(results=[result], events=list(events))
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow)
        await run(look, LONG)
        await expect(look.page.locator(".node.done")).to_have_count(2)
        await expect(look.page.locator(".react-flow__edge.passed")).to_have_count(1)
        wire = look.page.locator(".wire-value")
        await expect(wire).to_have_text(f"{LONG[:22]}…")
        await wire.press("Enter")
        await expect(look.page.get_by_role("dialog")).to_contain_text(LONG)
        await look.page.keyboard.press("Escape")
        await expect(wire).to_be_focused()
        given = node(look, "Chat Output").locator(".given")
        await expect(given.locator("summary")).to_have_text(f"Output {LONG}")
        await given.locator("summary").press("Enter")
        await expect(given.locator("pre")).to_have_text(LONG)


async def test_a_run_that_fails_goes_to_its_component_and_f8_goes_there_again(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, ids = echo
    error = RunError(code="crash", message="It broke.", fix="Mend it.", node=ids[1])
    result = RunResult(run_id="r", output=None, outputs={}, metrics=RunMetrics(seconds=0.1), error=error)
    runner = StandInRunner(results=[result])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow)
        await run(look, "hello")
        failed = look.page.locator(f".react-flow__node[data-id={ids[1]}]")
        await expect(failed.locator(".node.failed")).to_be_visible()
        await expect(failed).to_be_focused()
        bar = look.page.get_by_role("region", name="Progress")
        await expect(bar.get_by_role("alert")).to_contain_text("Chat Output failed. It broke. Mend it.")
        await look.page.locator(f".react-flow__node[data-id={ids[0]}]").focus()
        await look.page.keyboard.press("F8")
        await expect(failed).to_be_focused()
        await look.page.locator(f".react-flow__node[data-id={ids[0]}]").focus()
        await bar.get_by_role("button", name="Go to Chat Output").click()
        await expect(failed).to_be_focused()


async def test_a_failed_run_stays_told_until_the_flow_has_changed_or_runs(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, ids = echo
    error = RunError(code="crash", message="It broke.", fix="Mend it.", node=ids[1])
    failure = RunResult(run_id="r", output=None, outputs={}, metrics=RunMetrics(seconds=0.1), error=error)
    runner = StandInRunner(results=[failure, failure, ran("hello"), failure, ran("hello")])
    model = ScriptedModel("run_flow", [call("run_flow", 1, input="hello")], "It ran.")
    async with looking(browser, assistant(catalogue, model, runner=runner)) as look:
        page = look.page
        await opened(look, flow)
        bar, red = page.get_by_role("region", name="Progress"), page.locator(".node.failed")

        async def fails() -> None:
            await run(look, "hello")
            await expect(bar.get_by_role("alert")).to_contain_text("It broke.")
            await expect(red).to_have_count(1)

        await fails()
        field = node(look, "Chat Input").get_by_role("textbox", name="Input Text")
        await field.fill("words")
        await expect(bar).to_have_count(0)
        await expect(red).to_have_count(0)
        await fails()
        await run(look, "again")
        await expect(page.get_by_role("log", name="Try the flow").locator(".markdown")).to_have_text("hello")
        await expect(bar).to_have_count(0)
        await expect(red).to_have_count(0)
        await fails()
        await page.get_by_role("tab", name="Assistant").click()
        await look.ask("Run it with hello")
        await expect(bar).to_have_count(0)
        await expect(red).to_have_count(0)


async def test_a_run_moves_along_its_path_and_is_stopped_on_the_canvas(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, ids = echo
    started = [
        NodeStarted(node=ids[0], iteration=1),
        NodeFinished(node=ids[0], iteration=1, seconds=0.1, ok=True),
        NodeStarted(node=ids[1], iteration=1),
    ]
    runner = StandInRunner(events=list(started), hangs=True)
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow)
        await run(look, "hello")
        await expect(look.page.locator(".react-flow__edge.flowing")).to_have_count(1)
        bar = look.page.get_by_role("region", name="Progress")
        await expect(bar.get_by_role("status")).to_have_text("Chat Output runs…")
        await bar.get_by_role("button", name="Stop the run").click()
        await expect(bar).to_have_count(0)
        assert runner.cancelled.is_set()
        await expect(look.page.locator(".node.running")).to_have_count(0)


async def test_a_version_is_compared_as_ghosts_and_restored(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, _ = echo
    async with looking(browser, assistant(catalogue)) as look:
        flow_id = await opened(look, flow)
        await node(look, "Chat Output").locator("header").click()
        await look.page.keyboard.press("Delete")
        await expect(nodes(look)).to_have_count(1)
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("something else")
        await stored(look, flow_id)
        await look.page.get_by_role("button", name="Revisions").click()
        await look.page.get_by_role("button", name="Compare with version 1", exact=True).click()
        await expect(look.page.locator(".react-flow__node.ghost")).to_have_count(1)
        changed = node(look, "Chat Input, would be changed")
        await expect(changed.locator(".waits del")).to_have_text("something else")
        bar = look.page.get_by_role("region", name="Waits for you")
        await expect(bar).to_contain_text("What version 1 would bring back: 1 added, 1 changed")
        await bar.get_by_role("button", name="Restore version 1").click()
        await expect(nodes(look)).to_have_count(2)
        await expect(look.page.locator(".react-flow__node.ghost")).to_have_count(0)
        kept = (await look.live.client.get(f"{FLOWS}/{flow_id}")).json()["flow"]
        assert len(kept["data"]["nodes"]) == 2
        await look.page.get_by_role("button", name="Undo").click()
        await expect(nodes(look)).to_have_count(1)
        assert len((await stored(look, flow_id))["data"]["nodes"]) == 1
        await look.page.get_by_role("button", name="Revisions").click()
        await look.page.get_by_role("button", name="Restore: 1", exact=True).click()
        await expect(nodes(look)).to_have_count(2)
        for count in (1, 1, 2):  # then the words that were typed, and the component that was deleted
            await look.page.get_by_role("button", name="Undo").click()
            await expect(nodes(look)).to_have_count(count)


async def test_what_a_run_gave_stands_on_no_other_flow_and_on_no_changed_one(
    browser: Browser, catalogue: Catalogue, echo: tuple[JsonObject, list[str]]
) -> None:
    flow, ids = echo
    result = RunResult(
        run_id="r", output=LONG, outputs={ids[1]: LONG}, metrics=RunMetrics(seconds=0.1), nodes=dict.fromkeys(ids, LONG)
    )
    async with looking(browser, assistant(catalogue, runner=StandInRunner(results=[result, result]))) as look:
        page = look.page
        await opened(look, {**flow, "name": "Copy"})
        await opened(look, flow)
        gave = page.locator(".node.done, .given, .wire-value")
        await run(look, LONG)
        await expect(page.locator(".node.done")).to_have_count(2)
        await page.get_by_role("link", name="All flows").click()
        await page.get_by_role("link", name="Copy").click()
        await expect(nodes(look)).to_have_count(2)
        await expect(gave).to_have_count(0)
        await page.go_back()
        await page.go_back()
        await run(look, LONG)
        await expect(page.locator(".node.done")).to_have_count(2)
        await node(look, "Chat Input").get_by_role("textbox", name="Input Text").fill("words")
        await expect(gave).to_have_count(0)
