"""Scenario files: what they may say, and where a fault is when they say it wrongly."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.language.detect import detect_language
from evals.expectation import Expectation, Probe
from evals.play.addresses import with_addresses
from evals.scenario import Scenario
from evals.scenarios.loader import FOLDER, SCHEMA, ScenarioError, load_scenario, load_scenarios, schema_text

SPEC = "nodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
MINIMAL = f"id: {{id}}\nabout: A test.\nturns: [{{{{say: hello}}}}]\nreference: {SPEC!r}\n".replace("'", '"')

ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 10)}]\n" for one in range(1, 12)
)
"""A thousand bytes that stand for a hundred billion values."""


def written(folder: Path, text: str, name: str = "some") -> Path:
    """A scenario file."""
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("{id}", name).replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    return path


def test_there_are_enough_of_every_kind() -> None:
    scenarios = load_scenarios()
    tags = {tag for scenario in scenarios for tag in scenario.tags}
    assert len(scenarios) >= 120
    assert len({scenario.digest for scenario in scenarios}) == len(scenarios)
    wanted = {"build", "edit", "insert", "rewire", "replace", "debug", "question", "refuse", "ask", "run"}
    assert wanted | {"multi-turn", "language", "service", "model", "agent", "branch", "safety", "file"} <= tags
    assert {
        "own",
        "user-edit",
        "write",
        "large",
        "loop",
        "missing-key",
        "impossible",
        "false-premise",
        "secret",
    } <= tags
    assert {"injection", "twin", "undo", "build-only", "compound", "growth", "plan", "mention", "todo"} <= tags
    assert {scenario.split for scenario in scenarios} == {"dev", "test"}
    assert sum(len(scenario.alternatives) >= 2 for scenario in scenarios) >= 30
    assert all(scenario.wrong for scenario in scenarios)


def test_they_are_written_in_six_languages_at_least() -> None:
    prompts = [prompt for scenario in load_scenarios() for prompt in scenario.prompts]
    assert {"en", "de", "fr", "es", "pt"} <= {detect_language(prompt) for prompt in prompts}
    assert any("\u3041" <= sign <= "\u30ff" for prompt in prompts for sign in prompt), "none is in Japanese"


def test_the_committed_schema_is_current() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), (
        "write evals.scenarios.loader.schema_text() into the file"
    )


def test_scenarios_come_by_id(tmp_path: Path) -> None:
    for name in ("b", "a-b", "a"):
        written(tmp_path, MINIMAL, name)
    assert [scenario.id for scenario in load_scenarios(tmp_path)] == ["a", "a-b", "b"]


def test_a_folder_without_scenarios_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="holds no scenarios"):
        load_scenarios(tmp_path)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (MINIMAL.replace("{id}", "other"), "some.yaml", "must be the file's name"),
        (MINIMAL + "surprise: 1\n", "some.yaml", "surprise: Extra inputs"),
        (MINIMAL.replace("[{{say: hello}}]", "[]"), "some.yaml", "turns: "),
        (MINIMAL.replace("[{{say: hello}}]", "hello"), "some.yaml", "turns: "),
        (MINIMAL.replace("say: hello", "say: yes"), "some.yaml", "turns[0].say: Input should be a valid string"),
        (MINIMAL.replace("reference", "canvas"), "some.yaml", "give the reference flow (reference)"),
        (MINIMAL.replace("say: hello", "say: hello, should: refuse"), "some.yaml", "no turn acts"),
        (MINIMAL.replace("say: hello", "say: hello, should: answer"), "some.yaml", "what is expected of the answer"),
        (MINIMAL.replace("{{say: hello}}", "{{say: hi}}, {{say: ho}}"), "some.yaml", "turn 1 acts and is not the last"),
        (
            MINIMAL + "probes: [{{input: 3, equals: b}}]\n",
            "some.yaml",
            "probes[0].input: Input should be a valid string",
        ),
        (MINIMAL + "probes: [{{input: a}}]\n", "some.yaml", "give exactly one of"),
        (MINIMAL + "probes: [{{equals: b, contains: c}}]\n", "some.yaml", "give exactly one of"),
        (MINIMAL + "probes: [{{error: external, unlike: c}}]\n", "some.yaml", "has no counterfactual"),
        (MINIMAL + "probes: [{{regex: '('}}]\n", "some.yaml", "regex is not a regular expression"),
        (MINIMAL + "services: [{{name: a, routes: [{{text: x, json: 1}}]}}]\n", "some.yaml", "json or text, not both"),
        (
            MINIMAL.replace("say: hello", "say: x, answer: [{{regex: y}}]"),
            "some.yaml",
            "give a right final message (reply)",
        ),
        (
            MINIMAL.replace("say: hello", "say: x, reply: b, answer: [{{equals: a}}]"),
            "some.yaml",
            "does not meet answer",
        ),
        (MINIMAL + "open: true\n", "some.yaml", "has no reference flow"),
        (
            MINIMAL.replace("reference", "about: x # ")
            .replace("about: A test.\n", "open: true\n")
            .replace("say: hello", "say: x, should: refuse"),
            "some.yaml",
            "needs a turn that acts",
        ),
        (MINIMAL + "expect: {{one_of: [[]]}}\n", "some.yaml", "expect.one_of[0]: "),
        (MINIMAL + "id: again\n", "some.yaml line 5", "'id' is given twice"),
        (MINIMAL + "when: 2020-01-01\n", "some.yaml", "quote it"),
        (MINIMAL + "canvas: {{file: ../some.yaml}}\n", "some.yaml", "is outside files/"),
        (MINIMAL + "canvas: {{file: none.json}}\n", "some.yaml", "does not exist"),
        ("a: [\n", "some.yaml line 2", ""),
        ("- a\n- b\n", "some.yaml", "Input should be an object"),
        ("", "some.yaml", "Input should be an object"),
    ],
)
def test_a_fault_is_reported_with_its_place(text: str, place: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(written(tmp_path, text))
    assert caught.value.place == place
    assert words in caught.value.message
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.yaml", "does not exist"),
        ("bytes.yaml", "is not UTF-8 text"),
        ("nul.yaml", "byte 2 is NUL"),
        ("deep.yaml", "nests deeper than 200 levels"),
        ("bomb.yaml", "aliases that expand to more than 1,000,000 values"),
    ],
)
def test_a_file_that_is_no_text_or_too_complex_is_a_fault(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "nul.yaml").write_bytes(b"id\0")
    (tmp_path / "deep.yaml").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "bomb.yaml").write_text(ALIAS_BOMB, encoding="utf-8")
    with pytest.raises(ScenarioError, match=reason):
        load_scenario(tmp_path / name)


def test_a_file_beside_the_scenarios_stands_for_its_content(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "canvas.flow").write_text(SPEC, encoding="utf-8")
    first = load_scenario(written(tmp_path, MINIMAL + "canvas: {{file: canvas.flow}}\n"))
    assert first.canvas == SPEC
    (tmp_path / "files" / "canvas.flow").write_text(SPEC + "\n", encoding="utf-8")
    assert load_scenario(tmp_path / "some.yaml").digest != first.digest


def test_a_scenario_is_parsed_once_and_again_when_it_or_a_file_of_it_has_changed(tmp_path: Path) -> None:
    path = written(tmp_path, MINIMAL)
    first = load_scenario(path)
    assert load_scenario(path) is first
    assert load_scenario(written(tmp_path, MINIMAL.replace("A test.", "Another."))).about == "Another."
    assert load_scenario(written(tmp_path, MINIMAL)) == first
    (tmp_path / "files").mkdir()
    content = tmp_path / "files" / "spec.flow"
    naming = written(tmp_path, MINIMAL.partition("reference")[0] + "reference: {{file: spec.flow}}\n", "naming")
    for spec in (SPEC, SPEC.replace("a:", "other:").replace("a.", "other.")):
        content.write_text(spec, encoding="utf-8")
        assert load_scenario(naming).reference == spec


def test_the_digest_changes_with_the_content_and_not_with_the_writing(tmp_path: Path) -> None:
    one = load_scenario(written(tmp_path, MINIMAL))
    document = yaml.safe_load((tmp_path / "some.yaml").read_text(encoding="utf-8"))
    (tmp_path / "some.yaml").write_text(yaml.safe_dump(document, default_flow_style=True), encoding="utf-8")
    assert load_scenario(tmp_path / "some.yaml").digest == one.digest
    changed = MINIMAL.replace("hello", "hello!")
    assert load_scenario(written(tmp_path, changed)).digest != one.digest


def test_keys_that_came_later_change_no_digest_when_they_say_nothing(tmp_path: Path) -> None:
    plain = load_scenario(written(tmp_path, MINIMAL))
    assert {"open", "criteria"}.isdisjoint(plain.model_dump())
    assert "one_of" not in plain.expect.model_dump()
    said = load_scenario(written(tmp_path, MINIMAL + "open: false\ncriteria: []\nexpect: {{one_of: []}}\n"))
    assert said.digest == plain.digest
    assert load_scenario(written(tmp_path, MINIMAL + "criteria: [It is short.]\n")).digest != plain.digest


def test_an_open_scenario_has_turns_that_act_and_no_flows(tmp_path: Path) -> None:
    text = MINIMAL.partition("reference")[0].replace("{{say: hello}}", "{{say: hi}}, {{say: ho}}") + "open: true\n"
    scenario = load_scenario(written(tmp_path, text + "probes: [{{input: a, regex: b}}]\n"))
    assert (scenario.open, scenario.acts, scenario.reference) == (True, (0, 1), None)


def test_the_addresses_of_services_take_the_place_of_their_names_everywhere() -> None:
    scenario = next(scenario for scenario in load_scenarios(FOLDER) if scenario.id == "service-fetch")
    there = with_addresses(scenario, {"weather": "http://127.0.0.1:1"})
    assert "{{service:" not in there.model_dump_json()
    assert "http://127.0.0.1:1/today" in there.turns[0].say
    assert "http://127.0.0.1:1/today" in (there.reference or "")
    assert with_addresses(scenario, {}) is scenario


@pytest.mark.parametrize(
    ("rule", "output", "met"),
    [
        (Expectation(equals="a"), "a", True),
        (Expectation(equals="a"), "A", False),
        (Expectation(contains="AB"), "xaby", True),
        (Expectation(contains="ab"), "ba", False),
        (Expectation(lacks="ab"), "ba", True),
        (Expectation(lacks="AB"), "xaby", False),
        (Expectation(regex=r"\d+"), "a 12", True),
        (Expectation(regex=r"\A\d+"), "a 12", False),
        (Expectation(lacks="x"), None, False),
        (Probe(unlike="b"), "anything", True),
    ],
)
def test_an_expectation_is_met_or_not(rule: Expectation, output: str | None, met: bool) -> None:
    assert rule.met_by(output) is met


@given(st.text(min_size=1), st.text(), st.text())
def test_what_contains_a_part_has_it_and_lacks_is_its_opposite(part: str, before: str, after: str) -> None:
    text = before + part + after
    assert Expectation(contains=part).met_by(text)
    assert not Expectation(lacks=part).met_by(text)
    assert Expectation(regex=re.escape(part)).met_by(text)
    assert Expectation(equals=text).met_by(text)


def test_a_scenario_survives_json() -> None:
    for scenario in load_scenarios():
        again = Scenario.model_validate_json(scenario.model_dump_json(by_alias=True))
        assert again.digest == scenario.digest
