"""Scenario files: what they may say, and where a fault is when they say it wrongly."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.scenario import Expectation, Probe, Scenario, ScenarioError, load_scenario, load_scenarios
from flows.catalogue import Catalogue
from flows.spec import build

MINIMAL = "id: {id}\nabout: A test.\nprompts: [hello]\nprobes: [{{input: a, equals: b}}]\n"


def written(folder: Path, text: str, name: str = "some") -> Path:
    """A scenario file."""
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("{id}", name).replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    return path


def test_there_are_at_least_twelve_that_build_and_run() -> None:
    scenarios = load_scenarios()
    assert len(scenarios) >= 12
    assert all(scenario.probes and scenario.script for scenario in scenarios)
    assert len({scenario.digest for scenario in scenarios}) == len(scenarios)


@pytest.mark.parametrize("scenario", load_scenarios(), ids=lambda scenario: scenario.id)
def test_every_starting_canvas_and_scripted_spec_builds(scenario: Scenario, catalogue: Catalogue) -> None:
    specs = [scenario.canvas] if scenario.canvas else []
    steps = [step for turn in scenario.script or () for step in turn]
    specs += [str(step.arguments["spec"]) for step in steps if step.tool == "build_flow"]
    for spec in specs:
        assert build(spec, catalogue).faults == ()


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
        (MINIMAL.replace("prompts: [hello]", "prompts: []"), "some.yaml", "prompts: "),
        (MINIMAL.replace("prompts: [hello]", "prompts: hello"), "some.yaml", "prompts: "),
        (
            MINIMAL.replace("prompts: [hello]", "prompts: [yes]"),
            "some.yaml",
            "prompts[0]: Input should be a valid string",
        ),
        (MINIMAL.replace("input: a", "input: 3"), "some.yaml", "probes[0].input: Input should be a valid string"),
        (MINIMAL.replace(", equals: b", ""), "some.yaml", "exactly one of equals, contains and regex"),
        (MINIMAL.replace("equals: b", "equals: b, contains: c"), "some.yaml", "exactly one of"),
        (MINIMAL.replace("equals: b", "regex: '('"), "some.yaml", "regex is no regular expression"),
        (MINIMAL + "script: []\n", "some.yaml", "script has 0 turns, prompts has 1"),
        (MINIMAL + "script: [[{{tool: run_flow, say: x}}]]\n", "some.yaml", "either tool or say"),
        (MINIMAL + "script: [[{{say: x, name: y}}]]\n", "some.yaml", "script[0][0]: "),
        (MINIMAL + "id: again\n", "some.yaml line 5", "'id' is given twice"),
        (MINIMAL + "when: 2020-01-01\n", "some.yaml", "quote it"),
        ("a: [\n", "some.yaml line 2", ""),
        ("- a\n- b\n", "some.yaml", "Input should be an object"),
        ("", "some.yaml", "Input should be an object"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, place: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(written(tmp_path, text))
    assert caught.value.place == place
    assert words in caught.value.message
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.yaml", "bytes.yaml"])
def test_a_file_that_is_no_text_is_a_fault(name: str, tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="cannot be read as UTF-8"):
        load_scenario(tmp_path / name)


def test_the_digest_changes_with_the_content_and_not_with_the_writing(tmp_path: Path) -> None:
    one = load_scenario(written(tmp_path, MINIMAL))
    document = yaml.safe_load((tmp_path / "some.yaml").read_text(encoding="utf-8"))
    written(tmp_path, yaml.safe_dump(document, default_flow_style=True).replace("{", "{{").replace("}", "}}"))
    assert load_scenario(tmp_path / "some.yaml").digest == one.digest
    assert load_scenario(written(tmp_path, MINIMAL.replace("hello", "bye"))).digest != one.digest


@settings(deadline=None)
@given(st.text(min_size=1), st.text(), st.text())
def test_an_output_meets_what_is_made_from_it(part: str, before: str, after: str) -> None:
    output = before + part + after
    assert Expectation(equals=output).met_by(output)
    assert Expectation(contains=part).met_by(output)
    assert Expectation(regex=re.escape(part)).met_by(output)
    assert Probe(input=None, equals=output + "!").met_by(output) is False


def test_no_output_meets_nothing() -> None:
    assert not Expectation(equals="").met_by(None)
    assert Expectation(equals="").met_by("")


def test_an_expectation_says_what_it_is() -> None:
    assert str(Expectation(contains="a")) == "contains 'a'"
