"""`wirewright eval report`: a journal in, a report in any form out, and what cannot be reported told apart."""

import asyncio
import importlib.util
import json
from pathlib import Path

import pytest

from agent.settings import AssistantSettings
from evals.analysis.tally import write_verdicts
from evals.fix.records import Fix
from evals.fix.search import MinimalFix
from evals.journal import open_journal, read_journal
from evals.jsonl import JsonLines
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.boaster import BoasterPlayer
from evals.players.null import NullPlayer
from evals.players.player import Player
from evals.score import score_attempts
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.cli.conftest import Wirewright
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran

ECHO = scenario_named("echo")


def journal_of(player: Player, path: Path, catalogue: Catalogue) -> Path:
    """A journal of one attempt at the echo."""
    stage = PlayEnvironment(
        settings=AssistantSettings(), catalogue=catalogue, runner=StandInRunner(results=[ran("hello")])
    )
    attempts = asyncio.run(play([ECHO], player, stage))
    journal = open_journal(path, resume=False)
    for attempt in attempts:
        journal.append(attempt)
    write_verdicts(path.with_suffix(".scores.jsonl"), score_attempts([ECHO], attempts, catalogue), measured=False)
    return path


@pytest.fixture
def journal(tmp_path: Path, catalogue: Catalogue, excerpt: Path) -> Path:
    """What the boaster played."""
    return journal_of(BoasterPlayer(), tmp_path / "boaster.jsonl", catalogue)


@pytest.fixture
def baseline(tmp_path: Path, catalogue: Catalogue) -> Path:
    """The scores of an earlier play, as they are committed."""
    return journal_of(NullPlayer(), tmp_path / "null.jsonl", catalogue).with_suffix(".scores.jsonl")


def test_every_form_is_written_by_its_ending(journal: Path, wirewright: Wirewright, tmp_path: Path) -> None:
    names = {"r.html": "<!doctype html>", "r.md": "# Mine", "r.json": "{", "r.csv": "scenario,", "r.xml": "<?xml"}
    options = [part for name in names for part in ("--out", tmp_path / name)]
    done = wirewright("eval", "report", journal, "--title", "Mine", *options)
    assert (done.code, done.out) == (0, "")
    assert len(done.err.splitlines()) == len(names)
    for name, start in names.items():
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_without_a_file_it_is_markdown_on_standard_output(journal: Path, wirewright: Wirewright) -> None:
    done = wirewright("eval", "report", journal)
    assert done.code == 0
    assert done.out.startswith("# Evaluation report")
    assert "`boaster` | 0 of 1 |" in done.out


@pytest.mark.parametrize("kind", ["scores", "attempts"])
def test_a_baseline_may_be_scores_or_attempts(
    kind: str, journal: Path, baseline: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    named = baseline if kind == "scores" else tmp_path / "null.jsonl"
    done = wirewright("eval", "report", journal, "--baseline", named, "--json")
    assert done.code == 0
    assert done.json["baseline"] == named.name
    (against,) = done.json["against"]
    assert (against["name"], against["baseline"], against["worse"]) == ("boaster", "null", [])


def test_the_baseline_s_player_may_be_named_and_must_be_there(
    journal: Path, baseline: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    both = tmp_path / "both.jsonl"
    scores = journal.with_suffix(".scores.jsonl").read_text(encoding="utf-8") + baseline.read_text(encoding="utf-8")
    both.write_text(scores, encoding="utf-8")
    for options, partner in (([], "boaster"), (["--baseline-player", "null"], "null")):
        done = wirewright("eval", "report", journal, "--baseline", both, *options, "--json")
        assert [one["baseline"] for one in done.json["against"]] == [partner]
    done = wirewright("eval", "report", journal, "--baseline", both, "--baseline-player", "nul", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_player")
    assert "null" in done.json["error"]["fix"]
    done = wirewright("eval", "report", journal, "--baseline-player", "null", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_player")


def test_a_gate_s_decision_is_shown_and_decides_no_exit_code(
    journal: Path, baseline: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(f"baseline: {baseline.name}\nfloors:\n  passed: 0.5\n", encoding="utf-8")
    done = wirewright("eval", "report", journal, "--gate", gate)
    assert done.code == 0
    assert (
        "**`boaster` does not pass the gate `gate.yaml`.**\n\n- `passed is 0.0%, at least 50.0% is wanted (" in done.out
    )
    gate.write_text("flours: {}\n", encoding="utf-8")
    bad = wirewright("eval", "report", journal, "--gate", gate)
    assert bad.code == 2
    assert "gate.yaml" in bad.err


def test_fixes_of_other_attempts_are_noted_and_left_out(journal: Path, wirewright: Wirewright, tmp_path: Path) -> None:
    path = tmp_path / "fixes.jsonl"
    mine = next(read_journal(journal))
    found = MinimalFix(actions=(), flow=Flow.empty(), whole=2, tries=3, proven=False)
    JsonLines(path, Fix).write([Fix.of(mine, found), Fix.of(mine.model_copy(update={"player": "other"}), found)])
    done = wirewright("eval", "report", journal, "--fixes", path, "--json")
    assert done.code == 0
    assert "1 of the 2 fixes in fixes.jsonl are not for attempts of this journal" in done.err
    (attempt,) = done.json["attempts"]
    assert (attempt["fix"]["whole"], attempt["fix"]["proven"]) == (2, False)


@pytest.mark.parametrize("content", [b"{}\n", b"\xff\n"])
def test_a_file_that_holds_no_fixes_is_named(
    content: bytes, journal: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    path = tmp_path / "fixes.jsonl"
    path.write_bytes(content)
    done = wirewright("eval", "report", journal, "--fixes", path, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "bad_fixes")
    assert "eval fix --out" in done.json["error"]["fix"]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b'{"no": 1}\n', "bad_journal", "line 1: not a valid attempt"),
        (b"\xff\xfe\n", "bad_journal", ""),
        (b"", "empty_journal", "holds no attempts"),
        (b'{"scenario": "gone", "digest": "d", "player": "p"}\n', "other_scenario", "not among the scenarios"),
        (b'{"scenario": "echo", "digest": "d", "player": "p"}\n', "other_scenario", "has changed"),
    ],
)
def test_a_journal_that_cannot_be_reported_is_bad_usage(
    content: bytes, code: str, words: str, wirewright: Wirewright, tmp_path: Path, excerpt: Path
) -> None:
    path = tmp_path / "attempts.jsonl"
    path.write_bytes(content)
    done = wirewright("eval", "report", path, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == code
    assert words in done.json["error"]["message"]
    assert done.json["error"]["fix"]
    assert str(tmp_path) not in done.json["error"]["message"]


def test_scores_are_no_journal(journal: Path, wirewright: Wirewright) -> None:
    done = wirewright("eval", "report", journal.with_suffix(".scores.jsonl"), "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "bad_journal"
    assert "--baseline" in done.json["error"]["fix"]


@pytest.mark.parametrize(
    ("out", "code"), [("report.pdf", "bad_form"), ("report", "bad_form"), ("missing/report.html", "unwritable")]
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_done(
    out: str, code: str, journal: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    done = wirewright("eval", "report", journal, "--out", tmp_path / out, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == code


def test_a_play_that_fits_in_no_page_is_a_failure(
    journal: Path, wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evals.report.formats import writer
    from evals.report.formats.html import TooLarge

    def refuse(*_: object, **__: object) -> str:
        raise TooLarge("The page would be larger.")

    monkeypatch.setattr(writer, "page", refuse)
    done = wirewright("eval", "report", journal, "--out", tmp_path / "r.html", "--json")
    assert done.code == 1
    assert json.loads(done.out)["error"]["code"] == "too_large"


def test_a_missing_extra_is_named(journal: Path, wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without_jinja(name: str, package: str | None = None) -> object:
        return None if name == "jinja2" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_jinja)
    done = wirewright("eval", "report", journal, "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "missing_package"
    assert "wirewright[evals]" in done.json["error"]["fix"]


def test_plays_of_several_players_are_compared_only_by_name(
    journal: Path, baseline: Path, wirewright: Wirewright, tmp_path: Path
) -> None:
    both = tmp_path / "both.jsonl"
    boaster = journal.with_suffix(".scores.jsonl")
    both.write_text(boaster.read_text(encoding="utf-8") + baseline.read_text(encoding="utf-8"), encoding="utf-8")
    done = wirewright("eval", "compare", both, boaster, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "several_players")
    assert "boaster, null" in done.json["error"]["fix"]
    done = wirewright("eval", "compare", both, both, "--player", "boaster", "--json")
    assert (done.code, done.json["same"]) == (0, True)
    done = wirewright("eval", "compare", both, both, "--player", "null", "--player", "boaster", "--json")
    assert done.json["same"] is False
    done = wirewright("eval", "compare", both, both, "--player", "nobody", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_player")
    done = wirewright("eval", "compare", both, both, *(["--player", "null"] * 3), "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "too_many_players")
