"""The page: complete, alone, small enough, the same every time, and deaf to what its data says."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evals.report.clipping import SIZES, Limits
from evals.report.formats.html import TooLarge, content_hash, embedded, page, render
from evals.report.formats.writer import render_report
from evals.report.model import Material, gather
from evals.report.play import Entry, score_play
from flows.catalogue import Catalogue
from tests.evals.report.conftest import Played

HOSTILE = (
    "</script></style><script>document.title='OWNED'</script>"
    "<img src=x onerror=document.title='OWNED'>\u202e{{7*7}}\ud800"
)


class Read(HTMLParser):
    """What a page holds: its elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inner: list[tuple[str, dict[str, str | None], str]] = []
        self.text = ""
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.elements.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in {"script", "style"} else None

    def handle_data(self, data: str) -> None:
        """Text."""
        if self._open is not None:
            self.inner.append((*self._open, data))
            self._open = None
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="session")
def html(material: Material) -> str:
    """The page."""
    return render_report("html", material)


@pytest.fixture(scope="session")
def hostile(played: Played, catalogue: Catalogue) -> Material:
    """The oracle's play, with markup in everything that a model, a flow or a service can say."""
    attempts = []
    for attempt in played.of("oracle"):
        turns = []
        for turn in attempt.turns:
            flow = turn.flow.to_json()
            flow["name"] = HOSTILE
            for node in flow["data"]["nodes"]:
                node["data"]["node"]["display_name"] = HOSTILE
            changed = turn.model_copy(update={"text": HOSTILE, "proposal": type(turn.flow).from_json(flow)})
            turns.append(changed.model_copy(update={"caveats": [HOSTILE], "models": [HOSTILE]}))
        attempts.append(attempt.model_copy(update={"turns": turns, "player": HOSTILE}))
    return Material(play=score_play(played.scenarios, attempts, catalogue), catalogue=catalogue, title=HOSTILE)


def test_the_page_shows_every_part_of_an_attempt(html: str) -> None:
    text = Read(html).text
    for words in (
        "Beside the baseline",
        "Cost against quality",
        "Scenarios × players",
        "Make me a bot that says hello to whatever name I type.",  # the conversation
        "build_flow",  # the tools
        "hello.template: Hello {name}!",  # their arguments
        "5 of 5 · Connect Prompt Template.prompt → Chat Output.input_value",  # the canvas step by step
        "Expected beside built",
        "the connection Chat Input.message → Prompt Template.name is missing",
        "equals 'Hello Bob!'",  # probes
        "resolved",
        "the flow is as it was",  # reasons
        "p (Holm)",
        "smallest effect",
    ):
        assert words in text, words


def test_the_page_is_the_same_for_the_same_play(html: str, material: Material) -> None:
    assert render_report("html", material) == html


def test_every_drawing_and_every_link_leads_somewhere(html: str) -> None:
    read = Read(html)
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    targets = {link for tag in ("a", "use") for one in read.all(tag) if (link := one.get("href") or "")}
    assert targets
    assert {link[1:] for link in targets} <= set(ids)


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(html: str) -> None:
    read = Read(html)
    (policy,) = [one["content"] or "" for one in read.all("meta") if "http-equiv" in one]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    (script,) = [text for tag, attributes, text in read.inner if tag == "script" and "type" not in attributes]
    (style,) = [text for tag, _, text in read.inner if tag == "style"]
    assert f"script-src '{content_hash(script)}'" in policy
    assert f"style-src '{content_hash(style)}'" in policy


def test_nothing_is_loaded_and_no_attribute_runs_or_styles(html: str) -> None:
    read = Read(html)
    assert not [tag for tag, _ in read.elements if tag in {"link", "img", "iframe", "object", "embed", "base"}]
    names = {name for _, attributes in read.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in {"style", "src", "srcset", "action"}]
    assert "http://" not in html
    assert "https://" not in html


def test_the_page_works_with_a_screen_reader_and_the_keyboard(html: str) -> None:
    read = Read(html)
    tags = [tag for tag, _ in read.elements]
    assert [tags.count(landmark) for landmark in ("main", "nav", "h1")] == [1, 1, 1]
    assert read.all("html")[0]["lang"] == "en"
    assert all("aria-label" in one or "aria-hidden" in one for one in read.all("svg"))
    assert all("aria-label" in one or "id" in one for one in read.all("input"))
    assert "prefers-color-scheme" in html
    assert "@media print" in html


def test_hostile_data_stays_text(hostile: Material, html: str) -> None:
    read = Read(render_report("html", hostile))
    usual = Read(html)
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in usual.elements}
    assert len(read.all("script")) == 2
    assert len(read.all("style")) == 1
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    assert "document.title='OWNED'" in read.text
    assert "\u202e" not in read.text
    assert "{{7*7}}" in read.text


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
def test_a_browser_runs_our_script_and_not_the_data(hostile: Material, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_report("html", hostile), encoding="utf-8")
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [shutil.which("chromium") or "", *arguments, f"file://{path}#report-insert--0-0"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    read = Read(done.stdout)
    assert not re.search("<title>OWNED", done.stdout)
    assert not read.all("img")
    assert 'class="replay live"' in done.stdout, "our script did not run"
    (tools,) = [one for one in read.all("div") if one.get("class") == "tools"]
    assert "hidden" not in tools, "our script did not run to its end"
    (followed,) = [one for one in read.all("details") if one.get("id") == "report-insert--0-0"]
    assert "open" in followed


def test_embedded_json_cannot_end_its_element() -> None:
    text = str(embedded({"a": "</script><!--<script>&\u2028"}))
    assert not set("<>&\u2028") & set(text)
    assert text == r'{"a": "\u003c/script\u003e\u003c!--\u003cscript\u003e\u0026\u2028"}'


def test_long_texts_are_cut_with_a_notice(played: Played, catalogue: Catalogue) -> None:
    (first, *_) = played.of("oracle")
    turn = first.turns[0].model_copy(update={"text": "word " * 5_000})
    play = score_play(played.scenarios, [first.model_copy(update={"turns": [turn]})], catalogue)
    text = render(gather(Material(play=play, catalogue=catalogue), Limits(text=100)))
    assert "… 24,900 more characters are left out" in text
    assert "word " * 21 not in text


def again(entry: Entry, repeat: int) -> Entry:
    """The same attempt and verdict as another try."""
    attempt = entry.attempt.model_copy(update={"repeat": repeat})
    verdict = entry.verdict.model_copy(update={"repeat": repeat})
    case = entry.case and replace(entry.case, attempt=attempt)
    return replace(entry, attempt=attempt, verdict=verdict, case=case)


def test_a_play_of_120_scenarios_with_three_tries_fits(played: Played, catalogue: Catalogue) -> None:
    scenarios, attempts = [], []
    for number in range(30):
        for attempt in (one for one in (*played.of("oracle"), *played.of("boaster")) if one.repeat == 0):
            base = next(one for one in played.scenarios if one.id == attempt.scenario)
            scenario = base.model_copy(update={"id": f"{base.id}-{number}"})
            scenarios.append(scenario)
            wordy = f"{number} " + "a long answer " * 700
            turns = [turn.model_copy(update={"text": wordy}) for turn in attempt.turns]
            names = {"scenario": scenario.id, "digest": scenario.digest, "turns": turns, "player": "oracle"}
            attempts.append(attempt.model_copy(update=names))
    unique = list({one.id: one for one in scenarios}.values())
    once = score_play(unique, attempts, catalogue)
    play = replace(once, entries=tuple(again(entry, repeat) for entry in once.entries for repeat in range(3)))
    assert len(play.entries) == 360
    assert len(render_report("html", Material(play=play, catalogue=catalogue)).encode()) < 5_000_000


def test_less_is_shown_until_it_fits(material: Material) -> None:
    whole = len(render(gather(material, SIZES[0])).encode())
    least = len(render(gather(material, SIZES[-1])).encode())
    text = page(lambda limits: gather(material, limits), limit=(whole + least) // 2)
    assert len(text.encode()) <= (whole + least) // 2
    assert "is left out, to keep this page small" in text


def test_a_page_that_cannot_fit_says_so(material: Material) -> None:
    with pytest.raises(TooLarge, match="report fewer attempts"):
        page(lambda limits: gather(material, limits), limit=1_000)
