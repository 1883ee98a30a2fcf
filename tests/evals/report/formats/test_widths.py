"""The page in a browser, 400 and 1280 pixels wide: nothing but tables that scroll is wider, and all can be read."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evals.gate import Gate
from evals.report.formats.writer import render_report
from evals.report.model import Material
from evals.report.play import score_play
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played

LOOK = """<!doctype html><iframe id=page src="report.html" style="width:{width}px;height:900px;border:0"></iframe>
<pre id=found></pre><script>
document.getElementById("page").onload = function () {{
  const page = this.contentDocument, width = page.documentElement.clientWidth
  for (const each of page.querySelectorAll("details")) each.open = true
  const scrolls = ".wide, .tall, .step, .flows figure, .changes, svg"
  const cut = ".sr, .skip, .stacked thead, .hint, .next li"
  const inside = each => each.closest(scrolls + "," + cut)
  const wide = [...page.body.querySelectorAll("*")]
    .filter(each => !inside(each) && each.getBoundingClientRect().right > width + 1)
    .map(each => each.tagName + "." + (each.getAttribute("class") || "") + " " + each.textContent.trim().slice(0, 60))
  const view = this.contentWindow
  const charts = [...page.querySelectorAll(".chart svg")].filter(each => each.getBoundingClientRect().width)
  const outside = charts.flatMap(each => [each, ...each.querySelectorAll("text, circle, path")])
    .filter(each => each.getBoundingClientRect().right > width + 1 || each.getBoundingClientRect().left < -1)
    .map(each => each.tagName + " " + each.textContent.trim().slice(0, 60))
  const letters = charts.flatMap(each => [...each.querySelectorAll("text")])
    .map(each => parseFloat(view.getComputedStyle(each).fontSize) * each.getScreenCTM().a)
  const written = [...page.body.querySelectorAll("*")].filter(each => !each.closest("svg, script, style, .sr"))
    .filter(each => [...each.childNodes].some(one => one.nodeType === 3 && one.textContent.trim()))
    .map(each => parseFloat(view.getComputedStyle(each).fontSize))
  document.getElementById("found").textContent = JSON.stringify({{
    width, scroll: page.documentElement.scrollWidth, wide, charts: charts.length, outside,
    letters: [Math.min(...letters), Math.max(...letters)], smallest: Math.min(...written)
  }})
}}</script>"""

LEAST, MOST = 10.0, 18.0
"""The height of letters in pixels that people read easily, beside text of 15."""

LONG = "https://agents.example.com/a-rather-long-path/to/an-agent"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_window_and_everything_can_be_read(
    width: int, played: Played, material: Material, catalogue: Catalogue, tmp_path: Path
) -> None:
    attempts = [
        *played.of("oracle"),
        *(one.model_copy(update={"player": LONG, "harness_error": "no engine"}) for one in played.of("null")[:1]),
        *(one.model_copy(update={"player": LONG}) for one in played.of("null")[1:]),
    ]
    whole = replace(
        material,
        play=score_play(played.scenarios, attempts, catalogue),
        gate=(Gate(floors={"passed": 0.9}), ()),
        gate_name="a-gate-with-a-rather-long-name-of-its-own.yaml",
        title="A report with a title that is rather long for a small window",
    )
    (tmp_path / "report.html").write_text(render_report("html", whole), encoding="utf-8")
    (tmp_path / "look.html").write_text(LOOK.format(width=width), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    window = [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1400,1000", "--virtual-time-budget=4000"]
    done = subprocess.run(
        [shutil.which("chromium") or "", *options, *window, f"file://{tmp_path / 'look.html'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    said = re.search(r'<pre id="found">(.+?)</pre>', done.stdout, re.DOTALL)
    assert said is not None, "the page was not looked at"
    found = json.loads(html.unescape(said[1]))
    assert found["wide"] == []
    assert found["scroll"] <= found["width"]
    assert found["charts"], "there is a chart to look at"
    assert found["outside"] == [], "what a chart draws stays in the window"
    smallest, largest = found["letters"]
    assert LEAST <= smallest <= largest <= MOST, "a chart neither whispers nor shouts"
    assert found["smallest"] >= LEAST
