"""`wirewright flow test` on the real engine."""

from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
import yaml

from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import HISTORY

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]

MODEL = """
nodes:
  chat: ChatInput
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> model.input_value
  model.text_output -> answer.input_value
config:
  model.model: openai:gpt-4o-mini
"""


def beside(flow: Path, tests: str) -> Path:
    path = flow.with_name(f"{flow.stem}.tests.yaml")
    path.write_text(tests, "utf-8")
    return path


def test_each_test_is_said_to_pass_or_why_it_fails(wirewright: Wirewright, louder: Path) -> None:
    beside(
        louder,
        """
tests:
- {input: bye, equals: "Say it louder: bye"}
- {name: shouts, input: bye, equals: BYE}
- {name: nothing is fixed, input: a, unlike: b}
- {name: of a step, input: c, node: prompt, equals: "Say it louder: c"}
- {name: another template, input: d, tweaks: {prompt.template: "Psst {text}"}, equals: Psst d}
- {name: must fail, input: e, error: timeout}
""",
    )
    done = wirewright("flow", "test", louder)
    assert done.code == 1
    assert done.out.splitlines() == [
        "passed  'bye'",
        "FAILED  shouts: expected equals 'BYE', got 'Say it louder: bye'",
        "passed  nothing is fixed",
        "passed  of a step",
        "passed  another template",
        "FAILED  must fail: expected the error 'timeout', but it succeeded",
        "4 of 6 tests passed.",
    ]


def test_all_passed_is_exit_0_and_junit_has_a_case_for_each(
    wirewright: Wirewright, louder: Path, tmp_path: Path
) -> None:
    beside(louder, "tests:\n- {input: bye, contains: louder}\n- {input: bye, lacks: quiet}\n")
    report = tmp_path / "report.xml"
    done = wirewright("flow", "test", louder, "--junit", report, "--json")
    assert (done.code, done.json["ok"], [one["passed"] for one in done.json["tests"]]) == (0, True, [True, True])
    [suite] = Tree.parse(report).getroot()  # noqa: S314  (its own)
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("2", "0", 2)


def test_models_of_a_flow_answer_as_the_tests_say_without_a_key(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    flow = tmp_path / "model.flow"
    flow.write_text(MODEL)
    beside(flow, "models:\n- {when: hello, say: Good day.}\n- {say: Pardon?}\n"
           "tests:\n- {input: hello, equals: Good day.}\n- {input: x, equals: Pardon?}\n")  # fmt: skip
    done = wirewright("flow", "test", flow)
    assert (done.code, done.out.splitlines()[-1]) == (0, "2 of 2 tests passed.")


def test_tests_of_one_session_share_their_messages(wirewright: Wirewright, tmp_path: Path) -> None:
    flow = tmp_path / "memory.flow"
    flow.write_text(HISTORY)
    beside(flow, "tests:\n- {input: I am Ada, session: a, equals: 'before:  now: I am Ada'}\n"
           "- {name: again, input: Who?, session: a, contains: 'User: I am Ada'}\n"
           "- {name: another, input: Who?, session: b, equals: 'before:  now: Who?'}\n")  # fmt: skip
    done = wirewright("flow", "test", flow)
    assert done.code == 0, done.out


def test_a_saved_run_is_a_test_that_passes(wirewright: Wirewright, louder: Path) -> None:
    for text in ("bye", 'a: "b"\nc — ü'):
        done = wirewright("flow", "test", louder, "--save", text)
        assert (done.code, done.out) == (0, f"Say it louder: {text}\n")
    saved = yaml.safe_load(louder.with_name("louder.tests.yaml").read_text("utf-8"))
    assert [case["input"] for case in saved["tests"]] == ["bye", 'a: "b"\nc — ü']
    assert wirewright("flow", "test", louder).code == 0


def test_a_run_that_fails_saves_nothing(wirewright: Wirewright, tmp_path: Path) -> None:
    flow = tmp_path / "words.flow"
    flow.write_text("nodes:\n  words: TextInput\nconfig:\n  words.input_value: kept\n")
    done = wirewright("flow", "test", flow, "--save", "hi", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "no_output")
    assert not flow.with_name("words.tests.yaml").exists()


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("{name: bad, input: a}", "exactly one of"),
        ("{name: bad, input: a, equals: b, hopes: c}", "hopes"),
        ("{name: bad, input: a, regex: '['}", "regular expression"),
        ("{name: good, input: a, equals: b}", "'good'"),
        ("{name: bad, input: a, equals: b, timeout: 0}", "timeout"),
        ("{name: bad, input: a, equals: b, tweaks: {prompt: x}}", "tweaks"),
        ("{name: bad, input: a, equals: b, tweaks: {promt.template: x}}", "promt"),
        ("{name: bad, input: a, equals: b, node: promt}", "promt"),
        ("just a word", "test 2"),
    ],
)
def test_a_bad_test_is_an_error_with_its_reason_and_the_others_run(
    wirewright: Wirewright, louder: Path, test: str, named: str
) -> None:
    good = "{name: good, input: bye, contains: louder}"
    beside(louder, f"tests:\n- {good}\n- {test}\n- {{input: c, contains: louder}}\n")
    report = louder.with_name("report.xml")
    done = wirewright("flow", "test", louder, "--junit", report, "--json")
    first, bad, last = done.json["tests"]
    assert (done.code, done.json["ok"]) == (1, False)
    assert (first["passed"], last["passed"], bad["error"]) == (True, True, "invalid_test")
    assert named in bad["name"] + bad["reason"]
    [suite] = Tree.parse(report).getroot()  # noqa: S314  (its own)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "0", "1")
    assert len(suite.findall("testcase/error")) == 1
    said = wirewright("flow", "test", louder).out.splitlines()
    assert said[1].startswith("ERROR   ")
    assert said[-1] == "2 of 3 tests passed."


@pytest.mark.parametrize("tests", ["tests: []\n", "tests: [\n", "cases: []\n"])
def test_a_file_that_holds_no_tests_is_refused_before_anything_runs(
    wirewright: Wirewright, louder: Path, tests: str
) -> None:
    beside(louder, tests)
    done = wirewright("flow", "test", louder, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "invalid_tests")
    assert "louder.tests.yaml" in done.json["error"]["message"]


def test_tests_by_type_and_display_name_hold_for_the_spec_and_for_what_was_built_from_it(
    wirewright: Wirewright, louder: Path
) -> None:
    louder_json = louder.with_suffix(".json")
    assert wirewright("flow", "build", louder, "--out", louder_json).code == 0
    beside(
        louder,
        """
tests:
- {name: by type, input: c, node: Prompt Template, equals: "Say it louder: c"}
- {name: whatever its case, input: c, node: prompt template, equals: "Say it louder: c"}
- {name: a tweak, input: d, tweaks: {Prompt Template.template: "Psst {text}"}, equals: Psst d}
""",
    )
    for flow in (louder, louder_json):
        done = wirewright("flow", "test", flow)
        assert done.code == 0, done.out


def test_a_flow_without_tests_says_how_to_begin(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "test", louder)
    assert done.code == 2
    assert "--save" in done.err
    assert wirewright("flow", "test", "-", stdin=b"nodes: {}").code == 2
    assert wirewright("flow", "test", louder, "--save", "x", "--junit", "y.xml").code == 2


def test_a_flow_with_faults_is_not_run(wirewright: Wirewright, tmp_path: Path) -> None:
    flow = tmp_path / "bad.flow"
    flow.write_text("nodes:\n  chat: ChatInput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.nowhere\n")
    beside(flow, "tests:\n- {input: a, equals: a}\n")
    done = wirewright("flow", "test", flow, "--json")
    assert (done.code, done.json["ok"], bool(done.json["faults"])) == (1, False, True)
