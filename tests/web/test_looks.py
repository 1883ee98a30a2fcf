"""Each state of the page looks as its picture, in light, dark, on a phone and on a large screen.

`--update-surfaces` makes the pictures again. They are compared where the same browser draws text with the same fonts:
elsewhere letters differ in every line, and a comparison would say nothing about the page (docs/adrs/0129).
"""

import hashlib
import io
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Browser, Page

from flows.catalogue import Catalogue
from scripts.page import ROOT
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
VISIBLE = 24
"""How far apart two shades may be and count as one."""
COLOURS = 24
Look = tuple[Literal["light", "dark"], int, int]
LOOKS: dict[str, Look] = {"light": ("light", 1280, 800), "dark": ("dark", 1280, 800), "phone": ("light", 390, 800)}
WIDE: Look = ("light", 2560, 1440)
WIDE_STATES = ("flows", "built", "users")
MOVING = ".figures, time, .saving, small, .token output, td, .react-flow__minimap, .react-flow__attribution, dd"
CALM = f"{MOVING} {{ visibility: hidden !important }} * {{ caret-color: transparent !important; transition: none !important }}"
CASES = [(name, look) for name in STATES for look in LOOKS] + [(name, "wide") for name in WIDE_STATES]


def drawn_by() -> dict[str, str]:
    """The browser's version, and a digest of the fonts that it draws with."""
    version = subprocess.run([cast("str", CHROMIUM), "--version"], capture_output=True, text=True, check=True).stdout
    found = ""
    for family in ("system-ui", "sans-serif", "monospace"):
        found += subprocess.run(["fc-match", family, "file", "family"], capture_output=True, text=True, check=False).stdout
    return {"browser": version.strip(), "fonts": hashlib.sha256(found.encode()).hexdigest()[:16]}


async def picture(page: Page) -> Image.Image:
    """What the page shows, without what differs from one run to the next, in few colours."""
    await page.add_style_tag(content=CALM)
    await page.mouse.move(0, 0)
    await page.wait_for_timeout(300)
    shot = Image.open(io.BytesIO(await page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    return shot.quantize(COLOURS, dither=Image.Dither.NONE)


def difference(one: Image.Image, other: Image.Image) -> float:
    """The part of two pictures' points that differ visibly; all of them when their sizes differ."""
    if one.size != other.size:
        return 1.0
    grey = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).convert("L")
    counts: Sequence[int] = grey.histogram()
    return sum(counts[VISIBLE:]) / (one.width * one.height)


@pytest.mark.parametrize(("name", "look"), CASES)
async def test_a_state_looks_as_its_picture(
    name: str, look: str, browser: Browser, catalogue: Catalogue, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    updates, here = request.config.getoption("--update-surfaces"), drawn_by()
    if not updates and (not FONTS.exists() or json.loads(FONTS.read_text()) != here):
        pytest.skip(f"the pictures were drawn by another browser or with other fonts than {here}")
    script, reach = STATES[name]
    scheme, width, height = WIDE if look == "wide" else LOOKS[look]
    who = assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who, size={"width": width, "height": height}) as at:
        await at.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await reach(at)
        seen = await picture(at.page)
    path = PICTURES / f"{name}-{look}.png"
    if updates:
        PICTURES.mkdir(exist_ok=True)
        seen.save(path, optimize=True)
        FONTS.write_text(json.dumps(here, indent=1) + "\n")
        return
    differs = difference(seen, Image.open(path))
    seen.save(tmp_path / path.name)
    assert differs <= DIFFERENT, f"{differs:.1%} of {path.name} differ from {tmp_path / path.name}"


def test_the_pictures_are_of_the_states_and_small() -> None:
    names = {f"{name}-{look}.png" for name, look in CASES}
    assert {path.name for path in PICTURES.glob("*.png")} == names
    assert sum(path.stat().st_size for path in PICTURES.glob("*.png")) < 4_000_000


def test_a_moved_part_is_a_difference() -> None:
    before = Image.new("RGB", (100, 100), "white")
    after = before.copy()
    after.paste("black", (0, 0, 20, 10))
    assert difference(before, after) == pytest.approx(0.02)  # pyright: ignore[reportUnknownMemberType]
    assert difference(before, before) == 0.0
    assert difference(before, Image.new("RGB", (99, 100), "white")) == 1.0
