"""`--components DIR`: a flow's own components, and flows that carry their own code, on the real engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.engine.process import Engine
from tests.cli.conftest import Wirewright
from tests.runtime.components.test_rules import GOOD
from tests.shared.flow_texts import WORD_COUNT, WORD_COUNTER

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]

COUNTER = WORD_COUNTER.replace("from lfx.", "from langflow.").replace('name = "WordCounter"', 'name = "word_counter"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "own"
    path.mkdir()
    (path / "words.py").write_text(COUNTER, encoding="utf-8")
    (path / "notes.txt").write_text("not a component", encoding="utf-8")
    return path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text(WORD_COUNT, encoding="utf-8")
    return path


@pytest.mark.parametrize("called", ["WordCounter", "word_counter"])
def test_a_flow_runs_with_its_own_component_by_class_and_by_name(
    wirewright: Wirewright, spec: Path, folder: Path, called: str
) -> None:
    text = WORD_COUNT.replace("WordCounter", called).encode()
    done = wirewright("flow", "run", "-", "--components", folder, "--input", "a b c", "--json", stdin=text)
    assert done.code == 0, done.out
    assert (done.json["ok"], done.json["output"]) == (True, "3")


def test_a_built_flow_carries_its_component_and_runs_and_checks_without_the_folder(
    wirewright: Wirewright, spec: Path, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "own.json"
    built = wirewright("flow", "build", spec, "--components", folder, "--out", target, "--json")
    assert (built.code, built.json["ok"], built.json["faults"]) == (0, True, [])
    codes = [
        node["data"]["node"]["template"]["code"]["value"]
        for node in json.loads(target.read_bytes())["data"]["nodes"]
        if node["data"]["type"] == "WordCounter"
    ]
    assert codes == [COUNTER]
    ran = wirewright("flow", "run", target, "--input", "a b", "--json")
    assert (ran.code, ran.json["output"]) == (0, "2")
    assert wirewright("flow", "check", target, "--json").json["ok"] is True
    assert wirewright("flow", "check", target, "--components", folder, "--json").json["faults"] == []


def test_a_spec_that_names_a_component_does_not_build_without_the_folder(wirewright: Wirewright, spec: Path) -> None:
    done = wirewright("flow", "build", spec, "--json")
    assert done.code == 1
    assert "unknown_type" in [fault["code"] for fault in done.json["faults"]]


BAD = {
    "guard": (GOOD.replace("    display", "    import os\n    x = os.environ\n    display", 1), "secrets", 8),
    "syntax": ("class Broken(Comp", "syntax", 1),
    "name": (GOOD.replace("Greeter", "ChatInput"), "name_taken", 1),
    "making": (GOOD.replace("    display", "    x = 1 / 0\n    display", 1), "code", 7),
    "words_again": (COUNTER, "duplicate_component", 1),
}


def test_bad_files_are_faults_that_name_file_and_line_and_nothing_is_run(
    wirewright: Wirewright, spec: Path, folder: Path
) -> None:
    for name, (source, _, _) in BAD.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    done = wirewright("flow", "run", spec, "--components", folder, "--input", "a", "--json")
    assert done.code == 1
    assert (done.json["ok"], done.json["output"]) == (False, None)
    faults = [fault for fault in done.json["faults"] if fault["severity"] == "error"]
    told = {fault["message"].split(" line ")[0].removesuffix(".py"): fault for fault in faults}
    assert len(told) == len(faults)
    assert {name: (told[name]["code"], told[name]["line"]) for name in told} == {
        name: (code, line) for name, (_, code, line) in BAD.items()
    }
    for name, (_, _, line) in BAD.items():
        assert told[name]["message"].startswith(f"{name}.py line {line}: ")
        assert told[name]["fix"]
        assert str(folder) not in told[name]["message"]


def test_a_file_that_is_not_text_is_a_fault(wirewright: Wirewright, spec: Path, folder: Path) -> None:
    (folder / "binary.py").write_bytes(b"\xff\xfe\x00")
    done = wirewright("flow", "check", spec, "--components", folder, "--json")
    assert [fault["code"] for fault in done.json["faults"]] == ["unreadable"]


@pytest.mark.parametrize("command", [("flow", "check"), ("flow", "build"), ("flow", "run")])
@pytest.mark.parametrize("named", ["missing", "words.py"])
def test_a_folder_that_cannot_be_read_is_bad_usage(
    wirewright: Wirewright, spec: Path, folder: Path, command: tuple[str, str], named: str
) -> None:
    done = wirewright(*command, spec, "--components", folder / named, "--json")
    assert done.code == 2
    assert done.json["error"]["where"] == "--components"


def test_an_empty_folder_holds_no_components(wirewright: Wirewright, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    echo = b"nodes:\n  chat: ChatInput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.input_value\n"
    done = wirewright("flow", "check", "-", "--components", empty, "--json", stdin=echo)
    assert (done.code, done.json["ok"]) == (0, True)


def test_a_flow_that_carries_hostile_code_is_refused_with_its_line(
    wirewright: Wirewright, spec: Path, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "own.json"
    assert wirewright("flow", "build", spec, "--components", folder, "--out", target).code == 0
    flow = json.loads(target.read_bytes())
    for node in flow["data"]["nodes"]:
        if node["data"]["type"] == "WordCounter":
            node["data"]["node"]["template"]["code"]["value"] = COUNTER + "import os\nos.system('id')\n"
    done = wirewright("flow", "run", "-", "--input", "a", "--json", stdin=json.dumps(flow).encode())
    assert done.code == 1
    assert done.json["error"]["code"] == "refused"
    assert "line 16" in done.json["error"]["message"]


def test_an_edited_custom_component_of_an_export_runs(wirewright: Wirewright, tmp_path: Path) -> None:
    spec = "nodes:\n  c: CustomComponent\n  o: ChatOutput\nedges:\n  c.output -> o.input_value\n"
    target = tmp_path / "custom.json"
    assert wirewright("flow", "build", "-", "--out", target, stdin=spec.encode()).code == 0
    flow = json.loads(target.read_bytes())
    for node in flow["data"]["nodes"]:
        template = node["data"]["node"]["template"]
        if node["data"]["type"] == "CustomComponent":
            template["code"]["value"] = template["code"]["value"].replace("self.input_value", "'edited by hand'")
    done = wirewright("flow", "run", "-", "--json", stdin=json.dumps(flow).encode())
    assert done.code == 0, done.out
    assert "edited by hand" in done.json["output"]


def test_ask_and_chat_start_one_engine_when_a_folder_of_components_is_given(
    wirewright: Wirewright, spec: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Engine.start
    started: list[object] = []

    async def counted(*arguments: Any, **named: Any) -> object:
        started.append(await start(*arguments, **named))
        return started[-1]

    monkeypatch.setattr(Engine, "start", counted)
    text = "Run it with the input 'a b c d'"
    options = ("--flow", spec, "--components", folder, "--model", "demo", "--json")
    for done in (wirewright("ask", text, *options), wirewright("chat", *options, stdin=text.encode() + b"\n")):
        assert done.code == 0, done.out
        assert done.lines[-1]["data"]["run"]["output"] == "4"
    assert len(started) == 2


def test_ask_refuses_a_bad_component_before_the_turn(wirewright: Wirewright, folder: Path) -> None:
    (folder / "words.py").write_text("class Broken(Comp", encoding="utf-8")
    done = wirewright("ask", "hello", "--components", folder, "--model", "demo", "--json")
    assert done.code == 2
    assert done.json["error"]["message"].startswith("words.py line 1: ")
