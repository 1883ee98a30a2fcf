"""The journals of version 0.1 under today's commands: scored, compared, gated, reported, exported and replayed."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import logfire
import pytest

from tests.cli.conftest import Done

Evaluate = Callable[..., Done]
PASSED = {
    "oracle": {
        "echo #0": True,
        "file-build-and-write #0": True,
        "formal-word #0": True,
        "own-insert #0": True,
        "plan-refined #0": True,
        "refuse-weather #0": True,
    },
    "demo": {
        "echo #0": True,
        "file-build-and-write #0": False,
        "file-build-and-write #1": False,
        "formal-word #0": False,
        "own-insert #0": False,
        "plan-refined #0": False,
        "plan-refined #1": False,
        "refuse-weather #0": True,
        "refuse-weather #1": True,
    },
    "model": {"refuse-weather #0": True},
}

SCORED_SINCE = ("formal-word", "language", True)
"""A scenario's score that version 0.1 left out: its detector did not know the language of so short a text."""

ADDED_SINCE = ("behaves",)
"""Scores that version 0.1 did not have; its scenarios declare nothing that they could score."""

REPLAYED = ("refuse-weather",)

ANSWERED_DIFFERENTLY = {"echo": 2, "plan-refined": 2, "own-insert": 6}
"""Scenarios in which the tools answer in other words today, and from which step on.

Building names components by their spec ids; the third runs a component of the user's own, by its own account.
"""


def verdicts(path: Path) -> dict[str, dict[str, Any]]:
    """The verdicts of a file by attempt, without the wording of their reasons and as they would be scored since."""
    scenario, score, value = SCORED_SINCE
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        verdict = json.loads(line)
        verdict["scores"] = {score["name"]: score["value"] for score in verdict["scores"]}
        assert {verdict["scores"].pop(name, None) for name in ADDED_SINCE} == {None}
        verdict.pop("cluster_keys", None)  # version 0.1 knew no clusters
        if verdict["scenario"] == scenario:
            assert verdict["scores"][score] in (None, value)
            verdict["scores"][score] = value
        found[f"{verdict['scenario']} #{verdict['repeat']}"] = verdict
    return found


@pytest.mark.parametrize("name", PASSED)
def test_a_journal_scores_as_it_did(name: str, excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    again = journals / "again.jsonl"
    done = evaluate("score", journals / f"{name}.jsonl", "--out", again, "--json")
    assert done.code == 0, done.err
    assert (done.json["scored"], done.json["harness_errors"]) == (len(PASSED[name]), 0)
    found = verdicts(again)
    assert {key: verdict["passed"] for key, verdict in found.items()} == PASSED[name]
    assert found == verdicts(journals / f"{name}.scores.jsonl")


def test_a_baseline_is_written_as_it_was(excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    again = journals / "again.jsonl"
    done = evaluate("score", journals / "demo.jsonl", "--baseline", "--out", again)
    assert done.code == 0, done.err
    assert verdicts(again) == verdicts(journals / "demo.baseline.jsonl")


def test_an_attempt_that_the_harness_failed_is_not_scored(excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    done = evaluate("score", journals / "unreachable.jsonl", "--json")
    assert (done.json["scored"], done.json["harness_errors"], done.json["pass_rate"]) == (0, 1, None)
    assert "ConnectError" in done.json["attempts"][0]["harness_error"]
    assert done.json["player"].startswith("http://"), "version 0.1 called it http:http://"


def test_what_a_model_cost_is_read(excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    done = evaluate("score", journals / "model.jsonl", "--json").json
    assert (done["player"], done["cost"]) == ("openai-chat:gpt-5-mini", 7.1e-05)
    assert done["attempts"][0]["measured"]["tokens"] == 123


@pytest.mark.parametrize("before", ["demo.scores.jsonl", "demo.baseline.jsonl", "demo.jsonl"])
def test_scores_baselines_and_journals_are_compared(
    before: str, excerpt: Path, journals: Path, evaluate: Evaluate
) -> None:
    same = evaluate("compare", journals / before, journals / "demo.jsonl", "--json")
    assert (same.code, same.json["ok"]) == (0, True)
    assert same.json["same"] is (before == "demo.jsonl")  # otherwise one score was added since
    assert (same.json["lost"], same.json["gained"], same.json["changed"]) == ([], [], [])
    better = evaluate("compare", journals / before, journals / "oracle.jsonl", "--json")
    lost = [(turned["scenario"], turned["repeat"], turned["why"]) for turned in better.json["lost"]]
    assert (better.code, lost) == (1, [("refuse-weather", 1, ["not played"])])
    assert sorted(turned["scenario"] for turned in better.json["gained"]) == [
        "file-build-and-write",
        "formal-word",
        "own-insert",
        "plan-refined",
    ]
    assert better.json["changed"] == []


@pytest.mark.parametrize("gate", ["gate.yaml", "statistical.yaml"])
def test_a_gate_decides_as_it_did(gate: str, excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    passed = evaluate("score", journals / "demo.jsonl", "--gate", journals / gate, "--json")
    assert (passed.code, passed.json["gate"]["ok"], passed.json["gate"]["reasons"]) == (0, True, [])
    refused = evaluate("score", journals / "unreachable.jsonl", "--gate", journals / gate, "--json")
    assert (refused.code, refused.json["gate"]["ok"]) == (1, False)


def test_a_report_shows_the_play_its_baseline_its_fixes_and_its_gate(
    excerpt: Path, journals: Path, evaluate: Evaluate
) -> None:
    beside = ("--baseline", journals / "demo.baseline.jsonl", "--fixes", journals / "demo.fixes.jsonl")
    page = journals / "report.html"
    arguments = (journals / "demo.jsonl", *beside, "--gate", journals / "gate.yaml")
    done = evaluate("report", *arguments, "--json")
    assert done.code == 0, done.err
    report = done.json
    assert evaluate("report", *arguments, "--out", page).code == 0
    html = page.read_text(encoding="utf-8")
    assert len(report["attempts"]) == 9
    fixed = {attempt["scenario"]: attempt["fix"] for attempt in report["attempts"] if attempt["fix"]}
    assert {name: len(fix["changes"]) for name, fix in fixed.items()} == {"formal-word": 1, "own-insert": 4}
    assert "formal-word" in html
    assert "WordsBackwards" in html


def test_an_attempt_is_shown_beside_its_scenario(excerpt: Path, journals: Path, evaluate: Evaluate) -> None:
    shown = evaluate("show", "formal-word", "--in", journals / "oracle.jsonl")
    assert shown.code == 0, shown.err
    assert "Make my greeting more formal: 'Good day'" in shown.out
    listed = evaluate("list", "--json").json
    assert {one["id"] for one in listed["scenarios"]} == {key.split(" ")[0] for key in PASSED["oracle"]}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What a collector of traces on loopback is sent."""
    found: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    yield found
    monkeypatch.undo()
    logfire.configure(send_to_logfire=False, console=False)
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_journal_is_exported_as_an_experiment(
    excerpt: Path, journals: Path, evaluate: Evaluate, collector: list[bytes]
) -> None:
    done = evaluate("export", journals / "demo.jsonl", "--json")
    assert (done.code, done.json["ok"]) == (0, True), done.err
    [experiment] = done.json["experiments"]
    assert (experiment["passed"], experiment["cases"]) == (3, 9)
    assert b"plan-refined" in b"".join(collector)


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_a_replay_says_where_the_tools_answer_differently_today(journals: Path, evaluate: Evaluate) -> None:
    chosen = [part for name in ANSWERED_DIFFERENTLY for part in ("--scenario", name)]
    done = evaluate("run", "--player", f"replay:{journals / 'oracle.jsonl'}", *chosen, "--json")
    assert {one["scenario"]: one["harness_error"] for one in done.json["attempts"]} == {
        name: f"at step {step} the tools answered differently than recorded"
        for name, step in ANSWERED_DIFFERENTLY.items()
    }


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_a_journal_is_replayed_with_the_same_outcome(journals: Path, evaluate: Evaluate) -> None:
    out = journals / "replayed.jsonl"
    chosen = [part for name in REPLAYED for part in ("--scenario", name)]
    done = evaluate("run", "--player", f"replay:{journals / 'oracle.jsonl'}", *chosen, "--scores", out, "--json")
    assert (done.code, done.json["harness_errors"]) == (0, 0), done.json
    recorded = verdicts(journals / "oracle.scores.jsonl")
    assert {key: verdict["scores"] for key, verdict in verdicts(out).items()} == {
        f"{name} #0": recorded[f"{name} #0"]["scores"] for name in REPLAYED
    }
