"""Trying the flow: a chat with it, its sessions, its files, and what it needs before it runs."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.results import RunMetrics, RunResult
from runtime.run_events import NodeToken
from runtime.sessions.messages import Message, MessageChanges
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import flow_with, opened
from tests.web.conftest import Look, looking
from tests.web.panel.connection import CUTTABLE, cut_off

pytestmark = pytest.mark.anyio


async def trying(look: Look) -> Locator:
    """Open the chat with the flow; returns its field."""
    await look.page.get_by_role("tab", name="Try the flow").click()
    return look.page.get_by_role("textbox", name="Input of the run")


def echo(catalogue: Catalogue, **values: str) -> JsonObject:
    flow: Any = deepcopy(flow_of(ECHO, catalogue).to_json())  # it shares its components with the catalogue
    template = flow["data"]["nodes"][0]["data"]["node"]["template"]
    for name, value in values.items():
        template[name]["value"] = value
    return {**flow, "name": "Echo"}


async def test_a_flow_that_begins_with_a_message_asks_for_one(browser: Browser, catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("hello")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, echo(catalogue))
        box = await trying(look)
        await box.press("Enter")
        await expect(look.page.get_by_text("Write a message first")).to_be_visible()
        await expect(box).to_be_focused()
        assert runner.asked == []
        await box.fill("hello")
        await expect(look.page.get_by_text("Write a message first")).to_have_count(0)
        await box.press("Enter")
        await expect(look.page.get_by_role("log").locator(".markdown")).to_have_text("hello")
    assert [text for _, text in runner.asked] == ["hello"]


async def test_a_flow_without_a_message_runs_with_the_values_that_it_has(
    browser: Browser, catalogue: Catalogue
) -> None:
    runner = StandInRunner(results=[ran("done")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow_with(catalogue, "TextInput"))
        await trying(look)
        await expect(look.page.get_by_text("It takes no message")).to_be_visible()
        await look.page.get_by_role("button", name="Run", exact=True).click()
        await expect(look.page.get_by_role("log").locator(".markdown")).to_have_text("done")
        await opened(look, echo(catalogue, input_value="good morning"))
        await trying(look)
        await expect(look.page.get_by_text("Without a message it runs with “good morning”.")).to_be_visible()
        await look.page.get_by_role("button", name="Run", exact=True).click()
        await expect(look.page.get_by_role("log").locator(".markdown")).to_have_text("done")
    assert [text for _, text in runner.asked] == [None, None]


async def test_there_is_nothing_to_run_on_an_empty_canvas(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await opened(look, {"name": "Mine", "data": {"nodes": [], "edges": []}})
        await trying(look)
        await expect(look.page.get_by_text("There is nothing to run yet")).to_be_visible()
        await expect(look.page.get_by_role("button", name="Run", exact=True)).to_be_disabled()


async def test_an_empty_answer_is_said_and_figures_are_shown(browser: Browser, catalogue: Catalogue) -> None:
    metrics = RunMetrics(seconds=0.1, input_tokens=30, output_tokens=12, model_calls=1, cost=0.25)
    runner = StandInRunner(results=[RunResult(run_id="r", output="", outputs={}, metrics=metrics)])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, echo(catalogue))
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        await expect(look.page.get_by_text("The flow answered nothing.")).to_be_visible()
        await expect(look.page.get_by_role("log").locator(".figures")).to_contain_text("42 tokens · $0.25")


async def test_a_run_without_an_answer_says_what_is_not_connected_and_marks_it(
    browser: Browser, catalogue: Catalogue
) -> None:
    metrics = RunMetrics(seconds=0.1, input_tokens=0, output_tokens=0, model_calls=0)
    runner = StandInRunner(results=[RunResult(run_id="r", output="", outputs={}, metrics=metrics)])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow_with(catalogue, "ChatInput", "ChatOutput"))
        faults = look.page.locator(".node .faults")
        await expect(faults).to_have_count(0)
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        log = look.page.get_by_role("log")
        await expect(log).to_contain_text("The flow answered nothing. Chat Output")
        await expect(log).to_contain_text("Connect an output to it.")
        await expect(log).not_to_contain_text("give it one")
        await expect(faults.filter(has_text="ChatOutput-1")).to_be_visible()


async def test_an_answer_is_shown_while_it_is_written(browser: Browser, catalogue: Catalogue) -> None:
    flow = echo(catalogue)
    runner = StandInRunner(events=[NodeToken(node="a", text="Good "), NodeToken(node="a", text="morn")], hangs=True)
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow)
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        await expect(look.page.get_by_role("log").locator(".markdown")).to_have_text("Good morn")
        await expect(look.page.get_by_role("log")).to_have_attribute("aria-busy", "true")
        await look.page.get_by_role("button", name="Stop", exact=True).click()
        await expect(look.page.get_by_role("log")).to_have_attribute("aria-busy", "false")


async def test_a_run_is_followed_again_after_the_connection_was_lost(browser: Browser, catalogue: Catalogue) -> None:
    tokens = [NodeToken(node="a", text="Good "), NodeToken(node="a", text="morn")]
    runner = StandInRunner(results=[ran("Good morning")], events=list(tokens), hangs=True)
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await look.page.add_init_script(CUTTABLE)
        await look.page.reload()
        await opened(look, echo(catalogue))
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        log = look.page.get_by_role("log")
        await expect(log.locator(".markdown")).to_have_text("Good morn")
        await cut_off(look.page)
        await expect(log).to_contain_text("The connection is lost.")
        await look.page.context.set_offline(False)
        await expect(log).not_to_contain_text("The connection is lost.")
        await expect(log.locator(".markdown")).to_have_text("Good morn")  # and not told twice
        runner.released.set()
        await expect(log.locator(".markdown")).to_have_text("Good morning")
        await expect(log).not_to_contain_text("answered nothing")
        look.problems.clear()  # the console says that the network was gone


async def test_files_go_along_with_a_message(browser: Browser, catalogue: Catalogue, tmp_path: Path) -> None:
    hours = tmp_path / "hours.txt"
    hours.write_text("nine to five")
    runner = StandInRunner(results=[ran("read")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, echo(catalogue))
        box = await trying(look)
        await look.page.locator("input[type=file]").set_input_files(hours)
        await expect(look.page.locator(".composer .chips")).to_contain_text("hours.txt")
        await box.fill("When?")
        await box.press("Enter")
        await expect(look.page.get_by_role("log").locator(".chips")).to_contain_text("hours.txt")
        await expect(look.page.get_by_role("log").locator(".markdown")).to_have_text("read")
        await expect(look.page.locator(".composer .chips")).to_have_count(0)
    [tweaks] = runner.tweaks
    assert tweaks is not None
    assert [list(values["files"]) for values in tweaks.values()] == [["hours.txt"]]  # pyright: ignore[reportArgumentType]  (as JSON has it)


async def test_earlier_sessions_are_listed_gone_on_with_and_deleted(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, runner=StandInRunner(results=[ran("hello")]))
    async with looking(browser, who) as look:
        page = look.page
        flow_id = await opened(look, echo(catalogue))
        owner = (await look.live.client.get("/api/v1/me")).json()["user"]["id"]
        said = (
            Message(id="1", sender="User", sender_name="User", text="Are you there?"),
            Message(id="2", sender="Machine", sender_name="AI", text="**Here** I am."),
        )
        await who.flow_sessions.save(owner, flow_id, "earlier", MessageChanges(added=said))
        await trying(look)
        await page.get_by_role("button", name="Sessions").click()
        dialog = page.get_by_role("dialog", name="Sessions")
        await dialog.get_by_role("button", name="2 messages").click()
        log = page.get_by_role("log", name="Try the flow")
        await expect(log.locator(".said")).to_have_text("Are you there?")
        await expect(log.locator(".markdown strong")).to_have_text("Here")
        await page.reload()
        await expect(log.locator(".said")).to_have_text("Are you there?")
        await page.get_by_role("button", name="Sessions").click()
        page.once("dialog", lambda asked: asked.accept())
        await dialog.get_by_role("button", name="Delete").click()
        await expect(dialog).to_contain_text("No sessions yet")
        await page.keyboard.press("Escape")
        await expect(log.locator(".said")).to_have_count(0)
        assert (await look.live.client.get(f"/api/v1/flows/{flow_id}/sessions")).json()["total"] == 0


async def test_what_one_flow_was_told_is_not_shown_with_another(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, runner=StandInRunner(results=[ran("hello")]))) as look:
        await opened(look, echo(catalogue))
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        await expect(look.page.locator(".said")).to_have_text("hello")
        await opened(look, echo(catalogue))
        await trying(look)
        await expect(look.page.get_by_text("Say something to the flow")).to_be_visible()
        await expect(look.page.locator(".said")).to_have_count(0)


async def test_a_flow_with_a_fault_is_not_run_and_says_what_is_wrong_where(
    browser: Browser, catalogue: Catalogue
) -> None:
    flow = echo(catalogue)
    data: Any = flow["data"]
    [edge] = data["edges"]
    edge["data"]["targetHandle"] |= {"fieldName": "context_id", "id": edge["target"]}
    runner = StandInRunner(results=[ran("hello")])
    async with looking(browser, assistant(catalogue, runner=runner)) as look:
        await opened(look, flow)
        box = await trying(look)
        await box.fill("hello")
        await box.press("Enter")
        fault = look.page.locator(".node .faults li").first
        told = (await fault.inner_text()).removesuffix("Fix this").strip()
        assert told
        await expect(look.page.get_by_role("log").get_by_role("alert")).not_to_contain_text("undefined")
        await expect(look.page.get_by_role("log").get_by_role("alert")).not_to_be_empty()
    assert runner.asked == []
