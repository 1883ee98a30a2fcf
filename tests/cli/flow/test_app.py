"""`wirewright flow build|check|spec`, and what `flow run` says of a flow that cannot be run."""

import json
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.spec import build
from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import LOUDER

pytestmark = pytest.mark.usefixtures("excerpt")

BROKEN = "nodes:\n  chat: ChatInputt\n  answer: ChatOutput\nedges:\n  chat.message -> answer.nowhere\n"
FAULT_KEYS = {"code", "severity", "node", "port", "field", "line", "message", "fix"}


def test_build_gives_the_flow_and_no_faults(wirewright: Wirewright, louder: Path, catalogue: Catalogue) -> None:
    done = wirewright("flow", "build", louder, "--json")
    assert done.code == 0
    assert set(done.json) == {"ok", "flow", "faults"}
    assert (done.json["ok"], done.json["faults"]) == (True, [])
    built = build(LOUDER, catalogue).flow
    assert built is not None
    assert done.json["flow"] == built.to_json()


def test_build_reads_standard_input(wirewright: Wirewright) -> None:
    assert wirewright("flow", "build", "-", "--json", stdin=LOUDER.encode()).json["ok"] is True


def test_build_tells_every_fault_and_gives_no_flow_when_the_spec_is_wrong(wirewright: Wirewright) -> None:
    done = wirewright("flow", "build", "-", "--json", stdin=BROKEN.encode())
    assert done.code == 1
    assert (done.json["ok"], done.json["flow"]) == (False, None)
    assert all(set(fault) == FAULT_KEYS for fault in done.json["faults"])
    first = done.json["faults"][0]
    assert (first["code"], first["node"], first["line"]) == ("unknown_type", "chat", 2)
    assert "ChatInput" in first["fix"]


def test_build_writes_no_file_when_the_spec_is_wrong(wirewright: Wirewright, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = wirewright("flow", "build", "-", "--out", target, stdin=BROKEN.encode())
    assert done.code == 1
    assert not target.exists()
    assert "line 2" in done.err
    assert done.out.startswith("Not built: ")


def test_build_writes_langflow_json_and_sums_up(wirewright: Wirewright, louder: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = wirewright("flow", "build", louder, "--out", target)
    assert done.code == 0
    assert Flow.from_json(json.loads(target.read_text(encoding="utf-8"))).name == "Louder"
    assert done.out.startswith("Louder: 3 nodes, 2 edges; no faults.")


def test_build_takes_langflow_json_too_and_checks_it(wirewright: Wirewright, louder_json: Path) -> None:
    done = wirewright("flow", "build", louder_json, "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    assert done.json["flow"] == json.loads(louder_json.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["louder", "louder_json"])
def test_check_is_clean_for_a_right_flow(name: str, wirewright: Wirewright, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(name)
    done = wirewright("flow", "check", path, "--json")
    assert (done.code, done.json) == (0, {"ok": True, "faults": []})
    assert wirewright("flow", "check", path).out == "Valid: no faults.\n"


def test_check_names_nodes_as_the_spec_does(wirewright: Wirewright) -> None:
    spec = LOUDER.replace("Say it louder: {text}", "").replace("  chat.message -> prompt.text\n", "")
    done = wirewright("flow", "check", "-", "--json", stdin=spec.encode())
    assert {fault["node"] for fault in done.json["faults"]} <= {"chat", "prompt", "answer"}
    assert done.json["faults"]
    assert not any("ChatInput-" in fault["message"] + fault["fix"] for fault in done.json["faults"])


def test_check_names_nodes_as_the_flow_does(wirewright: Wirewright, louder_json: Path) -> None:
    document = json.loads(louder_json.read_text(encoding="utf-8"))
    gone = document["data"]["nodes"].pop(1)["id"]
    done = wirewright("flow", "check", "-", "--json", stdin=json.dumps(document).encode())
    assert done.code == 1
    assert done.json["ok"] is False
    errors = [fault for fault in done.json["faults"] if fault["severity"] == "error"]
    assert gone in json.dumps(errors)


def test_warnings_do_not_change_ok(wirewright: Wirewright) -> None:
    spec = "nodes:\n  a: ChatInput\n  b: ChatOutput\n  c: ChatOutput\nedges:\n"
    spec += "  a.message -> b.input_value\n  a.message -> c.input_value\n"
    done = wirewright("flow", "check", "-", "--json", stdin=spec.encode())
    assert (done.code, done.json["ok"]) == (0, True)
    assert {fault["severity"] for fault in done.json["faults"]} == {"warning"}


@pytest.mark.parametrize("command", ["build", "check", "run", "spec"])
@pytest.mark.parametrize(
    ("content", "code", "where"),
    [
        (b'{"data": {"nodes": [{"id": 3}]}}', "invalid_flow", "standard input: $.data.nodes[0].id"),
        (b'{"data": ', "invalid_json", "standard input: line 1 column 10"),
        (b'{"data": {"nodes": [], "edges": [], "x": NaN}}', "invalid_json", "standard input"),
        (b"[" * 100_000, "invalid_json", "standard input"),
        (b"\xff\xfe\x00", "unreadable", "standard input"),
    ],
    ids=["flow", "json", "nan", "deep", "bytes"],
)
def test_a_document_that_is_not_a_flow_is_bad_usage(
    command: str, content: bytes, code: str, where: str, wirewright: Wirewright
) -> None:
    done = wirewright("flow", command, "-", "--json", stdin=content)
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["where"]) == (code, where)
    assert done.json["error"]["fix"]


@pytest.mark.parametrize("command", ["build", "check", "run", "spec"])
def test_a_file_that_cannot_be_read_is_bad_usage(command: str, wirewright: Wirewright, tmp_path: Path) -> None:
    missing = wirewright("flow", command, tmp_path / "nope.json", "--json")
    assert missing.code == 2
    assert missing.json["error"]["where"] == str(tmp_path / "nope.json")
    folder = wirewright("flow", command, tmp_path)
    assert (folder.code, folder.out) == (2, "")
    assert "is a directory" in folder.err


@pytest.mark.parametrize("name", ["no/such/folder.json", ".", "-", ""])
def test_a_target_that_cannot_be_written_is_bad_usage_before_any_work(
    name: str, wirewright: Wirewright, louder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = wirewright("flow", "build", louder, "--out", name, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "unwritable"


def test_a_byte_order_mark_is_not_part_of_the_flow(wirewright: Wirewright) -> None:
    assert wirewright("flow", "build", "-", "--json", stdin=b"\xef\xbb\xbf" + LOUDER.encode()).code == 0


def test_spec_prints_text_that_builds_the_same_flow(
    wirewright: Wirewright, louder_json: Path, catalogue: Catalogue
) -> None:
    done = wirewright("flow", "spec", louder_json)
    assert done.code == 0
    again = build(done.out, catalogue).flow
    assert again is not None
    assert fingerprint(again) == fingerprint(Flow.from_json(json.loads(louder_json.read_text(encoding="utf-8"))))
    assert wirewright("flow", "spec", louder_json, "--json").json["spec"].strip() == done.out.strip()


def test_spec_of_a_wrong_spec_tells_its_faults(wirewright: Wirewright) -> None:
    done = wirewright("flow", "spec", "-", "--json", stdin=BROKEN.encode())
    assert (done.code, done.json["ok"], done.json["spec"]) == (1, False, None)
    assert done.json["faults"]


def test_run_reports_the_faults_of_a_flow_that_does_not_build(wirewright: Wirewright) -> None:
    done = wirewright("flow", "run", "-", "--json", stdin=BROKEN.encode())
    assert done.code == 1
    assert set(done.json) == {"ok", "output", "outputs", "types", "metrics", "error", "faults"}
    assert (done.json["ok"], done.json["output"], done.json["outputs"]) == (False, None, {})
    assert set(done.json["metrics"]) == {
        "seconds",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "model_calls",
        "peak_mb",
    }
    assert set(done.json["error"]) == {"code", "message", "fix", "node"}
    assert (done.json["error"]["code"], done.json["error"]["node"]) == ("wiring", "chat")
    assert done.json["faults"][0]["code"] == "unknown_type"
    shown = wirewright("flow", "run", "-", stdin=BROKEN.encode())
    assert (shown.code, shown.out) == (1, "")
    assert "ChatInputt" in shown.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_time_limit_must_be_a_positive_number(seconds: str, wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, f"--timeout={seconds}", "--json")
    assert done.code == 2
    assert done.json["error"]["where"] == "--timeout"


@pytest.mark.parametrize("command", ["build", "check"])
def test_what_needs_only_the_types_works_before_the_engine_is_installed(
    command: str, wirewright: Wirewright, louder: Path, excerpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runtime.install.environment import RunnerEnvironment

    async def install(*_: object, **__: object) -> None:
        raise AssertionError("the engine is not needed")

    (excerpt / "catalogue.json").unlink()
    monkeypatch.setattr(RunnerEnvironment, "install", install)
    assert wirewright("flow", command, louder, "--json").code == 0


@pytest.mark.parametrize(("command", "missing"), [("build", "flow"), ("check", "faults"), ("run", "output")])
def test_without_an_engine_the_full_document_says_so(
    command: str, missing: str, wirewright: Wirewright, louder: Path, excerpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError

    async def refused(*_: object, **__: object) -> None:
        raise InstallError("The disk is full.", "Free some space.")

    (excerpt / "catalogue.json").unlink()
    monkeypatch.setattr("runtime.install.shipped.shipped_catalogue", lambda _: None)
    monkeypatch.setattr(RunnerEnvironment, "install", refused)
    done = wirewright("flow", command, louder, "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    assert missing in done.json
    assert [(fault["code"], fault["message"]) for fault in done.json["faults"]] == [
        ("engine_unavailable", "The disk is full.")
    ]


def test_an_open_model_field_is_a_warning_only_without_a_default_model(
    wirewright: Wirewright, excerpt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "talk.flow"
    file.write_text(
        "nodes:\n  chat: ChatInput\n  model: LanguageModelComponent\n  answer: ChatOutput\nedges:\n"
        "  chat.message -> model.input_value\n  model.text_output -> answer.input_value\n",
        encoding="utf-8",
    )
    [fault] = wirewright("flow", "check", file, "--json").json["faults"]
    assert (fault["code"], fault["severity"], fault["node"]) == ("missing_model", "warning", "model")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    assert wirewright("flow", "check", file, "--json").json == {"ok": True, "faults": []}
