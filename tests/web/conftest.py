"""A real browser on a real server's page."""

import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright

from agent.assistant import Assistant
from scripts.page import ROOT, is_current
from server.settings import ServerSettings
from tests.server.live import Live, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SIZE = {"width": 1280, "height": 800}
SLOWER = float(os.environ.get("WIREWRIGHT_SLOWER", "1"))
"""How many times slower pages run, to find what needs a fast machine: `WIREWRIGHT_SLOWER=6 pytest tests/web`."""


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The machine's Chromium; tests are skipped without it, and without a built page."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    if not is_current(ROOT):
        pytest.skip("the page is not built: `make page` says why")
    async with async_playwright() as playwright:
        made = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        await made.close()


@dataclass
class Look:
    """What a browser shows, and what went wrong in it.

    Attributes:
        page: the page.
        live: the server.
        problems: errors of the console and of scripts, and requests to other places.
    """

    page: Page
    live: Live
    problems: list[str] = field(default_factory=list[str])

    @property
    def base(self) -> str:
        """The server's address."""
        return str(self.live.client.base_url)

    def note(self, message: ConsoleMessage) -> None:
        """Keep an error of the console."""
        if message.type in {"error", "warning"}:
            self.problems.append(message.text)

    def requested(self, request: Request) -> None:
        """Keep a request to anywhere else."""
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.problems.append(f"asked for {request.url}")

    async def side(self, name: str) -> None:
        """Turn to the canvas or to the panel, where the screen shows one of them."""
        button = self.page.get_by_role("navigation", name="Shown").get_by_role("button", name=name)
        if await button.is_visible():
            await button.click()

    async def ask(self, text: str) -> None:
        """Send a message, and wait until the turn has ended."""
        await self.side("Assistant")
        box = self.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill(text)
        await box.press("Enter")
        await self.page.get_by_role("log").and_(self.page.locator("[aria-busy=false]")).wait_for()


@asynccontextmanager
async def looking(
    browser: Browser,
    who: Assistant,
    *,
    locale: str = "en-GB",
    size: dict[str, int] | None = None,
    settings: ServerSettings | None = None,
) -> AsyncGenerator[Look]:
    """A signed-in browser at the page of a server with this assistant; nothing may go wrong in it."""
    async with serving(who, settings or ServerSettings()) as live:
        context = await browser.new_context(viewport=size or SIZE, locale=locale, reduced_motion="reduce")  # pyright: ignore[reportArgumentType]  (a TypedDict that playwright does not export)
        page = await context.new_page()
        look = Look(page, live)
        if SLOWER > 1:
            session = await context.new_cdp_session(page)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})  # pyright: ignore[reportUnknownMemberType]  (its answer has no type)
        page.on("console", look.note)
        page.on("pageerror", lambda error: look.problems.append(str(error)))
        page.on("request", look.requested)
        await page.goto(live.access.link(look.base))
        yield look
        await context.close()
    assert look.problems == []
