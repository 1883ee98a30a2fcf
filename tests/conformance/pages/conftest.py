"""The pages of the examples in a real browser, served beside a server as their first lines say."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from agent.assistant import Assistant
from server.serve import HttpServer, address, bound
from server.settings import ServerSettings
from tests.conformance.agui.driving import environment
from tests.server.live import Live, serving
from tests.web.conftest import CHROMIUM

PAGES = Path(__file__).parents[3] / "examples" / "web"


@asynccontextmanager
async def pages_served() -> AsyncGenerator[str]:
    """The address of a server that has the pages alone, as `python -m http.server` has them."""
    stopping, ready, listener = asyncio.Event(), asyncio.Event(), bound("127.0.0.1", 0)
    server = HttpServer(
        Starlette(routes=[Mount("/", StaticFiles(directory=PAGES))]), stopping, ready.set, ServerSettings()
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await ready.wait()
    try:
        yield address(listener)
    finally:
        server.stop()
        await task


@asynccontextmanager
async def page_at(who: Assistant, name: str) -> AsyncGenerator[tuple[Page, Live]]:
    """A browser that shows a page, signed in at a server with this assistant; nothing may come from elsewhere.

    Args:
        who: the assistant.
        name: the page.
    """
    problems: list[str] = []
    async with (
        pages_served() as site,
        serving(who, ServerSettings(origins=(site,))) as live,
        async_playwright() as play,
    ):
        where = environment(live)
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page()
        ours = (site, where["SERVER"])
        page.on("request", lambda one: None if one.url.startswith(ours) else problems.append(f"asked for {one.url}"))
        page.on("pageerror", lambda error: problems.append(str(error)))
        await page.goto(f"{site}/{name}?server={where['SERVER']}#{where['TOKEN']}")
        try:
            yield page, live
        finally:
            await browser.close()
    assert problems == []
