"""Each state of the page looks as its picture, in light, dark, on a phone and on a large screen.

`--update-surfaces` makes the pictures again. They are compared where the same browser draws text with the same fonts:
elsewhere letters differ in every line, and a comparison would say nothing about the page (docs/adrs/0129).
"""

import base64
import hashlib
import json
import struct
import subprocess
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from playwright.async_api import Browser, Page

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import CHROMIUM, looking
from tests.web.states import STATES

pytestmark = pytest.mark.anyio
PICTURES = Path(__file__).parent / "pictures"
FONTS = PICTURES / "fonts.json"
"""Which browser and fonts drew the pictures."""
DIFFERENT = 0.01
"""The part of a picture's points that may differ."""
LOOKED = 8
"""How often a page is looked at, a second apart, until it looks as its picture: it draws late on a busy machine."""
VISIBLE = 24
"""How far apart two shades may be and count as one."""
COLOURS = 48
Look = tuple[Literal["light", "dark"], int, int]
LOOKS: dict[str, Look] = {"light": ("light", 1280, 800), "dark": ("dark", 1280, 800), "phone": ("light", 390, 800)}
WIDE: Look = ("light", 2560, 1440)
WIDE_STATES = ("flows", "built", "users")
MOVING = (
    ".figures, .elapsed, time, .saving, small, .token output, td, dd, .react-flow__minimap, .react-flow__attribution"
)
STILL = "* { caret-color: transparent !important; transition: none !important }"
FIXED = "small, time { display: inline-block; width: 4rem; overflow: hidden; white-space: nowrap }"
"""What is hidden takes the same room whatever it says."""
CALM = f"{MOVING} {{ visibility: hidden !important }} {STILL} {FIXED}"
AT_THE_END = "for (const one of document.querySelectorAll('[role=log]')) one.scrollTop = one.scrollHeight"
CASES = [(name, look) for name in STATES for look in LOOKS] + [(name, "wide") for name in WIDE_STATES]


def drawn_by() -> dict[str, str]:
    """The browser's version, and a digest of the fonts that it draws with."""
    version = subprocess.run([cast("str", CHROMIUM), "--version"], capture_output=True, text=True, check=True).stdout
    found = ""
    for family in ("system-ui", "sans-serif", "monospace"):
        found += subprocess.run(
            ["fc-match", family, "file", "family"], capture_output=True, text=True, check=False
        ).stdout
    return {"browser": version.strip(), "fonts": hashlib.sha256(found.encode()).hexdigest()[:16]}


async def picture(page: Page) -> bytes:
    """What the page shows, without what differs from one run to the next."""
    await page.add_style_tag(content=CALM)
    await page.mouse.move(0, 0)
    await page.evaluate(AT_THE_END)
    await page.wait_for_timeout(300)
    return await page.screenshot(animations="disabled", caret="hide")


DECODE = """async (data) => { const image = new Image(); image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const area = new OffscreenCanvas(image.width, image.height), context = area.getContext('2d');
  context.drawImage(image, 0, 0); return context.getImageData(0, 0, image.width, image.height); }"""
DIFFER = f"""async ([one, other, visible]) => {{ const decode = {DECODE};
  const [a, b] = [await decode(one), await decode(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let count = 0;
  for (let at = 0; at < a.data.length; at += 4)
    if (Math.max(...[0, 1, 2].map((part) => Math.abs(a.data[at + part] - b.data[at + part]))) >= visible) count += 1;
  return count / (a.width * a.height); }}"""
REDUCE = f"""async ([data, most]) => {{ const {{ data: points, width, height }} = await ({DECODE})(data);
  const counts = new Map();
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at += 1) {{
    const [r, g, b] = [0, 1, 2].map((part) => Math.min(255, Math.round(points[at * 4 + part] / 8) * 8));
    colours[at] = (r << 16) | (g << 8) | b;
    counts.set(colours[at], (counts.get(colours[at]) ?? 0) + 1);
  }}
  const chosen = [...counts].sort((one, other) => other[1] - one[1]).slice(0, most).map(([colour]) => colour);
  const parts = (c) => [(c >> 16) & 255, (c >> 8) & 255, c & 255];
  const nearest = new Map([...counts.keys()].map((colour) => [colour, chosen.reduce((best, one, at) => {{
    const far = parts(one).reduce((sum, part, n) => sum + (part - parts(colour)[n]) ** 2, 0);
    return far < best[0] ? [far, at] : best; }}, [Infinity, 0])[1]]));
  let text = '';
  for (const colour of colours) text += String.fromCharCode(nearest.get(colour));
  return {{ width, height, palette: chosen.flatMap(parts), points: btoa(text) }}; }}"""


async def reduced(page: Page, shot: bytes) -> bytes:
    """A picture with few colours, as a PNG file with a palette."""
    asked = [base64.b64encode(shot).decode(), COLOURS]
    made: dict[str, Any] = await page.evaluate(REDUCE, asked)
    width, height, points = made["width"], made["height"], base64.b64decode(made["points"])
    lines = b"".join(b"\0" + points[row * width : (row + 1) * width] for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", bytes(made["palette"])), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


async def difference(page: Page, one: bytes, other: bytes) -> float:
    """The part of two pictures' points that differ visibly; all of them when their sizes differ."""
    asked = [base64.b64encode(one).decode(), base64.b64encode(other).decode(), VISIBLE]
    return await page.evaluate(DIFFER, asked)


@pytest.fixture
async def blank(browser: Browser) -> AsyncIterator[Page]:
    """A page of its own, in which pictures are read: that of the server loads nothing that is not its own."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


@pytest.mark.table
@pytest.mark.parametrize(("name", "look"), CASES)
async def test_a_state_looks_as_its_picture(
    name: str,
    look: str,
    browser: Browser,
    catalogue: Catalogue,
    blank: Page,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    updates, here = request.config.getoption("--update-surfaces"), drawn_by()
    if not updates and (not FONTS.exists() or json.loads(FONTS.read_text()) != here):
        pytest.skip(f"the pictures were drawn by another browser or with other fonts than {here}")
    path = PICTURES / f"{name}-{look}.png"
    script, reach = STATES[name]
    scheme, width, height = WIDE if look == "wide" else LOOKS[look]
    who = assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 4))
    seen, differs = b"", 1.0
    async with looking(browser, who, size={"width": width, "height": height}) as at:
        await at.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await reach(at)
        if updates:
            PICTURES.mkdir(exist_ok=True)
            path.write_bytes(await reduced(blank, await picture(at.page)))
            FONTS.write_text(json.dumps(here, indent=1) + "\n")
            return
        for _ in range(LOOKED):
            seen = await picture(at.page)
            differs = await difference(blank, seen, path.read_bytes())
            if differs <= DIFFERENT:
                break
            await at.page.wait_for_timeout(1000)
    (tmp_path / path.name).write_bytes(seen)
    assert differs <= DIFFERENT, f"{differs:.1%} of {path.name} differ from {tmp_path / path.name}"


def test_the_pictures_are_of_the_states_and_small() -> None:
    if not FONTS.exists():
        pytest.skip("no pictures are drawn yet: --update-surfaces draws them")
    names = {f"{name}-{look}.png" for name, look in CASES}
    assert {path.name for path in PICTURES.glob("*.png")} == names
    assert sum(path.stat().st_size for path in PICTURES.glob("*.png")) < 4_000_000


async def test_a_moved_part_is_a_difference(blank: Page) -> None:
    await blank.set_viewport_size({"width": 100, "height": 100})
    before = await blank.screenshot()
    await blank.evaluate("document.body.style.cssText = 'margin:0;width:20px;height:10px;background:black'")
    await blank.evaluate("document.documentElement.style.background = 'white'")
    after = await blank.screenshot()
    assert await difference(blank, before, after) == pytest.approx(0.02)
    assert await difference(blank, before, await reduced(blank, before)) == 0.0
    await blank.set_viewport_size({"width": 99, "height": 100})
    assert await difference(blank, before, await blank.screenshot()) == 1.0
