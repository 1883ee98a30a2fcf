"""The page of the examples, in a real browser: it builds a flow, asks, and puts it on the canvas."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import async_playwright
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from agent.models.scripted import call
from flows.catalogue import Catalogue
from server.serve import HttpServer, address, bound
from server.settings import ServerSettings
from tests.conformance.agui.driving import environment
from tests.server.live import serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import CHROMIUM

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")]
PAGE = Path(__file__).parents[3] / "examples" / "web" / "agui.html"


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text().splitlines()) <= 60


async def test_the_page_builds_a_flow_and_asks_before_it_is_on_the_canvas(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Built it.", "question", "It echoes.")
    stopping, ready, listener = asyncio.Event(), asyncio.Event(), bound("127.0.0.1", 0)
    pages = Starlette(routes=[Mount("/", StaticFiles(directory=PAGE.parent))])
    server = HttpServer(pages, stopping, ready.set, ServerSettings())
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await ready.wait()
    site = address(listener)
    try:
        runner = StandInRunner(results=[ran("hi")])
        async with (
            serving(assistant(catalogue, model, runner), ServerSettings(origins=(site,))) as live,
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = await browser.new_page()
            where = environment(live)
            await page.goto(f"{site}/{PAGE.name}?server={where['SERVER']}#{where['TOKEN']}")
            await page.get_by_role("textbox", name="Message").fill("Build an echo")
            await page.get_by_role("button", name="Send").click()
            await page.get_by_role("button", name="Yes").click()
            await page.get_by_role("listitem").first.wait_for()
            shown = await page.get_by_role("listitem").all_inner_texts()
            await page.get_by_role("textbox", name="Message").fill("What does it do?")
            await page.get_by_role("button", name="Send").click()
            await page.get_by_text("It echoes.").wait_for()
            await browser.close()
    finally:
        server.stop()
        await task
    assert len([name for name in shown if "->" not in name]) == 2
    assert len([name for name in shown if "->" in name]) == 1
