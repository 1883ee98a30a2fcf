"""`python -m benchmarks.page`: how fast the page is in a browser, with a flow of 300 components. Reports, no gates.

The browser is Chromium as it is installed, at a served page of this checkout. What is measured, and against what:

| figure | wanted |
| --- | --- |
| the scripts of the first view, gzipped | 200 kB |
| first paint on loopback | 0.5 s |
| a flow of 300 components is usable: the first is drawn and takes the focus | 1 s |
| a frame while a component is dragged, at the 95th percentile | 16.7 ms |
| a frame while a connection is drawn, at the 95th percentile | 33 ms |
| a key in the message field until the next frame, at the 95th percentile | no more than without a canvas |
"""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks import pace
from benchmarks.serving import Served, serve
from benchmarks.specs import ECHO, built, chain
from flows.catalogue import Catalogue
from scripts.checkout import checkout_environment

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Locator, Page

NODES = 300
ROUNDS = 5
MOVES = 60
FRAMES = """() => { window.frames_ = []; let last = performance.now();
  const next = (now) => { window.frames_.push(now - last); last = now; window.more_ = requestAnimationFrame(next); };
  window.more_ = requestAnimationFrame((now) => { last = now; window.more_ = requestAnimationFrame(next); }); }"""
TAKEN = "() => { cancelAnimationFrame(window.more_); return window.frames_; }"
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
SCRIPTS = """() => [...new Set(performance.getEntriesByType('resource').map(({ name }) => name)
  .filter((name) => name.endsWith('.js')))]"""
KEY = """() => { window.keys_ = []; document.getElementById('message').addEventListener('input', () => {
  const begun = performance.now(); requestAnimationFrame(() => window.keys_.push(performance.now() - begun)); }); }"""


async def measure() -> list[str]:
    """Open the page with a small and with a large flow, drag, connect and type.

    Raises:
        RuntimeError: there is no Chromium.
    """
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        message = "There is no `chromium` on this machine: install it, and measure again."
        raise RuntimeError(message)
    catalogue = Catalogue.load()
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "WIREWRIGHT_DATA": data}
        async with serve(Path(sys.executable).with_name("wirewright"), environment) as served:
            await served.at_rest()
            small = await _stored(served, built(ECHO, catalogue).to_json())
            large = await _stored(served, built(chain(NODES), catalogue).to_json())
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                context = await browser.new_context(viewport={"width": 1280, "height": 800})
                await _signed_in(context, served)
                lines = [*await _first(context, served), *await _usable(context, served, large)]
                page = await context.new_page()
                await _opened(page, served, large)
                lines += [await _dragged(page), await _connected(page)]
                lines.append(await _typed(page, served, small, large))
                await browser.close()
    return lines


async def _stored(served: Served, flow: object) -> str:
    return (await served.client.post("/api/v1/flows", json=flow)).raise_for_status().json()["id"]


async def _signed_in(context: BrowserContext, served: Served) -> None:
    token = served.client.headers["Authorization"].removeprefix("Bearer ")
    await context.request.post(f"{served.client.base_url}/sign-in", data={"token": token})


async def _first(context: BrowserContext, served: Served) -> list[str]:
    paints: list[float] = []
    size = 0
    for _ in range(ROUNDS):
        page = await context.new_page()
        await page.goto(f"{served.client.base_url}/#/flows")
        await page.get_by_role("heading", name="Templates").wait_for()
        paints.append(await page.evaluate(PAINT))
        scripts: list[str] = await page.evaluate(SCRIPTS)
        bodies = [(await served.client.get(script)).content for script in scripts]
        size = sum(len(gzip.compress(body)) for body in bodies)
        await page.close()
    return [
        f"page: the scripts of the first view have {size / 1000:.0f} kB gzipped (wanted: 200)",
        f"page: first paint after {median(paints):.0f} ms, {max(paints):.0f} at most (wanted: 500)",
    ]


async def _opened(page: Page, served: Served, flow: str) -> float:
    """Open a flow; returns the seconds until a component of it takes the focus."""
    started = perf_counter()
    await page.goto(f"{served.client.base_url}/#/flow/{flow}")
    node = page.locator(".react-flow__node").first
    await node.wait_for()
    await node.focus()
    return perf_counter() - started


async def _usable(context: BrowserContext, served: Served, flow: str) -> list[str]:
    times: list[float] = []
    for _ in range(ROUNDS):
        page = await context.new_page()
        times.append(await _opened(page, served, flow))
        await page.close()
    return [f"page: {NODES} components are usable after {median(times):.2f} s, {max(times):.2f} at most (wanted: 1)"]


async def _moved(page: Page, start: Locator) -> list[float]:
    """Drag from the middle of something, and back; returns how long each frame took."""
    box = await start.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate(FRAMES)
    for step in range(MOVES):
        await page.mouse.move(x + 3 * step, y + (step % 20))
    frames: list[float] = await page.evaluate(TAKEN)
    await page.mouse.up()
    return frames


def _in_view(page: Page, what: str) -> Locator:
    return page.locator(f".react-flow__node:nth-child(3) {what}").first


async def _dragged(page: Page) -> str:
    frames = await _moved(page, _in_view(page, "header"))
    return f"page: a frame of a drag takes {_p95(frames):.1f} ms at p95, {median(frames):.1f} mostly (wanted: 16.7)"


async def _connected(page: Page) -> str:
    frames = await _moved(page, _in_view(page, ".react-flow__handle.source"))
    return f"page: a frame of a connection takes {_p95(frames):.1f} ms at p95, {median(frames):.1f} mostly (wanted: 33)"


async def _typed(page: Page, served: Served, small: str, large: str) -> str:
    found: list[float] = []
    for flow in (small, large):
        await page.goto("about:blank")
        await _opened(page, served, flow)
        await page.evaluate(KEY)
        await page.locator("#message").press_sequentially("a word " * 8)
        keys: list[float] = await page.evaluate("() => window.keys_")
        found.append(_p95(keys))
    return f"page: a key is drawn after {found[1]:.1f} ms at p95 beside {NODES} components, {found[0]:.1f} beside two"


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


if __name__ == "__main__":
    with checkout_environment():
        print(pace.measure(), *asyncio.run(measure()), pace.measure(), sep="\n")
