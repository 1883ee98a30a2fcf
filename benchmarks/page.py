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

A browser without a GPU draws with the processor, and shares it with the server and with what moves the mouse. So each
drag is measured beside one on a bare page: the same window with one element, which follows the mouse in the same way.
The two alternate, and the frames of all rounds count together. How long the main thread works for a frame says what is
the page's own.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks import pace
from benchmarks.serving import Served, serve
from benchmarks.specs import ECHO, built, chain
from flows.catalogue import Catalogue
from scripts.checkout import checkout_environment

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

NODES = 300
ROUNDS = 5
MOVES = 60
FRAME = 1000 / 60
LATE = 1.5 * FRAME
"""Milliseconds from which on a frame was left out."""

BARE = """<body style="margin: 0"><div id="bare" style="position: absolute; left: 200px; top: 200px; width: 280px;
  height: 200px; border: 1px solid gray">It follows the mouse.</div><script>
  const bare = document.getElementById("bare"); let from = null;
  addEventListener("mousedown", (event) => { from = [event.clientX, event.clientY]; });
  addEventListener("mouseup", () => { from = null; });
  addEventListener("mousemove", (event) => { if (from !== null)
    bare.style.transform = `translate(${event.clientX - from[0]}px, ${event.clientY - from[1]}px)`; });</script>"""
"""A page with one element that is dragged, and nothing else."""

MIDDLE = """(what) => {
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const area = document.querySelector(".canvas");
  const [x, y] = area === null ? [0, 0] : middle(area);
  const far = (one) => Math.hypot(one[0] - x, one[1] - y);
  return [...document.querySelectorAll(what)].map(middle).sort((one, other) => far(one) - far(other))[0];
}"""
"""The middle of what is nearest to the middle of the canvas: a drag at its edges moves the view as well."""

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
                bare = await context.new_page()
                await bare.set_content(BARE)
                lines += [await _dragged(page, bare), await _connected(page, bare)]
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


@dataclass
class Moved:
    """Frames while something is dragged.

    Attributes:
        frames: how long each took, in milliseconds.
        worked: how long the page's main thread worked meanwhile, in milliseconds.
    """

    frames: list[float] = field(default_factory=list[float])
    worked: float = 0

    def text(self) -> str:
        """The figures in words."""
        late = sum(frame > LATE for frame in self.frames)
        worked = self.worked / len(self.frames)
        return (
            f"{_p95(self.frames):.1f} ms at p95, {median(self.frames):.1f} mostly, {late} of {len(self.frames)} late, "
            f"the main thread works {worked:.1f} ms for each"
        )


async def _moved(page: Page, what: str, into: Moved) -> None:
    """Drag from the middle of something, and back where it was dropped."""
    await page.bring_to_front()
    x, y = await page.evaluate(MIDDLE, what)
    await page.mouse.move(x, y)
    await page.mouse.down()
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")  # pyright: ignore[reportUnknownMemberType]  (its answer has no type)
    await page.evaluate(FRAMES)
    before = await _worked(session)
    for step in range(MOVES):
        await page.mouse.move(x + 3 * step, y + (step % 20))
    into.frames += await page.evaluate(TAKEN)
    into.worked += await _worked(session) - before
    await session.detach()
    await page.mouse.move(x, y)
    await page.mouse.up()


async def _worked(session: CDPSession) -> float:
    """How long the main thread of a page has worked, in milliseconds."""
    # What Chromium answers has no type in Playwright.
    found: Any = await session.send("Performance.getMetrics")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  (likewise)
    return 1000 * next(one["value"] for one in found["metrics"] if one["name"] == "TaskDuration")


async def _beside(page: Page, bare: Page, what: str) -> tuple[Moved, Moved]:
    """Drag in the page and in the bare one, alternately."""
    ours, theirs = Moved(), Moved()
    for _ in range(ROUNDS):
        await _moved(bare, "#bare", theirs)
        await _moved(page, what, ours)
    return ours, theirs


async def _dragged(page: Page, bare: Page) -> str:
    ours, theirs = await _beside(page, bare, ".react-flow__node header")
    return f"page: a frame of a drag takes {ours.text()} (wanted: 16.7 ms); of a bare page: {theirs.text()}"


async def _connected(page: Page, bare: Page) -> str:
    ours, theirs = await _beside(page, bare, ".react-flow__handle.source")
    return f"page: a frame of a connection takes {ours.text()} (wanted: 33 ms); of a bare page: {theirs.text()}"


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
