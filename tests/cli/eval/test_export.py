"""`wirewright eval export`: a journal goes as experiments where the environment says, with texts only by consent."""

import asyncio
import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import logfire
import pytest

from agent.settings import AssistantSettings
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.boaster import BoasterPlayer
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner


@pytest.fixture
def journal(catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal of two attempts, and nothing in the environment that says where traces go."""
    for name in ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)
    stage = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=StandInRunner())
    scenarios = [scenario_named("echo"), scenario_named("question-count")]
    attempts = asyncio.run(play(scenarios, BoasterPlayer(), stage))
    path = tmp_path / "attempts.jsonl"
    path.write_text("".join(f"{attempt.model_dump_json()}\n" for attempt in attempts), encoding="utf-8")
    return path


@pytest.fixture
def received(journal: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bytes]]]:
    """What a collector of traces on loopback is sent, by path."""
    found: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    yield found
    monkeypatch.undo()
    logfire.configure(send_to_logfire=False, console=False)
    server.shutdown()
    thread.join()
    server.server_close()


def sent(received: list[tuple[str, bytes]]) -> bytes:
    """All that came as traces."""
    return b"".join(body for path, body in received if path == "/v1/traces")


def test_without_a_destination_nothing_is_sent(wirewright: Wirewright, journal: Path) -> None:
    done = wirewright("eval", "export", journal)
    assert done.code == 2
    assert "Nothing says where to send" in done.err
    assert "LOGFIRE_TOKEN" in done.err


def test_names_and_scores_are_sent_and_texts_are_not(
    wirewright: Wirewright, journal: Path, received: list[tuple[str, bytes]]
) -> None:
    done = wirewright("eval", "export", journal, "--json")
    assert (done.code, done.json["ok"], done.json["content"]) == (0, True, False)
    (experiment,) = done.json["experiments"]
    assert (experiment["name"], experiment["cases"], experiment["passed"]) == ("boaster", 2, 0)
    assert experiment["rates"]["honest"] == 0.0
    body = sent(received)
    assert experiment["trace_id"]
    assert bytes.fromhex(experiment["trace_id"]) in body
    for there in (b"gen_ai.operation.name", b"experiment", b"question-count", b"assertions"):
        assert there in body
    for text in (scenario_named("echo").prompts[0][:30], "It works perfectly"):
        assert text.encode() not in body


def test_texts_are_sent_with_consent(
    wirewright: Wirewright, journal: Path, received: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_TRACE_CONTENT", "true")
    done = wirewright("eval", "export", journal, "--scenario", "echo")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "Sent with texts."
    body = sent(received)
    assert b"It works perfectly" in body
    assert b"question-count" not in body


def test_a_journal_without_what_was_asked_for_is_refused(
    wirewright: Wirewright, journal: Path, received: list[tuple[str, bytes]]
) -> None:
    done = wirewright("eval", "export", journal, "--scenario", "grow")
    assert (done.code, sent(received)) == (2, b"")


def test_without_the_extra_it_says_what_to_install(
    wirewright: Wirewright, journal: Path, received: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_evals", None)
    done = wirewright("eval", "export", journal)
    assert done.code == 1
    assert "wirewright[evals]" in done.err


def test_inspect_logs_and_a_dataset_are_written_to_a_new_folder(
    wirewright: Wirewright, journal: Path, tmp_path: Path
) -> None:
    logs = wirewright("eval", "export", journal, "--to", "inspect", "--out", tmp_path / "logs", "--json")
    assert (logs.code, logs.json["ok"], logs.json["to"]) == (0, True, "inspect")
    (name,) = logs.json["files"]
    log = json.loads((tmp_path / "logs" / name).read_text(encoding="utf-8"))
    assert (log["version"], log["eval"]["model"], len(log["samples"])) == (2, "boaster", 2)
    data = wirewright("eval", "export", journal, "--to", "huggingface", "--out", tmp_path / "data", "--title", "Mine")
    assert (data.code, f"Written to {tmp_path / 'data'}." in data.err) == (0, True)
    assert "# Mine" in (tmp_path / "data" / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "data" / "data" / "attempts.jsonl").read_text(encoding="utf-8").count("\n") == 2
    again = wirewright("eval", "export", journal, "--to", "inspect", "--out", tmp_path / "logs", "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "not_empty")


def test_junit_and_a_comment_are_files_with_the_gate_and_the_baseline(
    wirewright: Wirewright, journal: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("floors: {passed: 1.0}\n", encoding="utf-8")
    comment, junit = tmp_path / "comment.md", tmp_path / "junit.xml"
    options = ("--baseline", journal, "--gate", gate)
    assert wirewright("eval", "export", journal, "--to", "markdown", "--out", comment, *options).code == 0
    assert "does not pass the gate" in comment.read_text(encoding="utf-8")
    assert "No scenario passes more or less often." in comment.read_text(encoding="utf-8")
    assert wirewright("eval", "export", journal, "--to", "junit", "--out", junit, "--gate", gate).code == 0
    suites = ElementTree.fromstring(junit.read_text(encoding="utf-8"))  # noqa: S314  (our own writing)
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [("boaster", "2"), ("gate", "1")]


def test_a_play_is_scored_into_junit_with_its_gate(wirewright: Wirewright, journal: Path, tmp_path: Path) -> None:
    gate, junit = tmp_path / "gate.yaml", tmp_path / "junit.xml"
    gate.write_text("floors: {passed: 1.0}\n", encoding="utf-8")
    done = wirewright("eval", "score", journal, "--gate", gate, "--junit", junit, "--json")
    assert done.code == 1
    suites = ElementTree.fromstring(junit.read_text(encoding="utf-8"))  # noqa: S314  (our own writing)
    player, decided = suites
    assert (player.get("tests"), player.get("failures"), decided.get("failures")) == ("2", "2", "1")
    assert "passed" in (decided.findtext("testcase/failure") or "")
    again = wirewright("eval", "score", journal, "--junit", junit)
    assert f"{junit} is replaced." in again.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--to", "csv", "--out", "x"], "bad_form"),
        (["--to", "inspect"], "bad_target"),
        (["--out", "x"], "bad_target"),
        (["--to", "inspect", "--out", "x", "--gate", "gate.yaml"], "bad_value"),
        (["--to", "junit", "--out", "nowhere/x.xml"], "unwritable"),
        (["--to", "inspect", "--out", "nowhere/x"], "unwritable"),
        (["--to", "inspect", "--out", "attempts.jsonl"], "unwritable"),
    ],
)
def test_what_cannot_be_exported_is_bad_usage(
    options: list[str], code: str, wirewright: Wirewright, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(journal.parent)
    done = wirewright("eval", "export", journal.name, *options, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, code)
    assert done.json["error"]["fix"]
