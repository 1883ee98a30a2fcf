"""Files of flow tests: what they may say, and adding a test without touching the rest."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evals.flow_tests.cases import file_of_tests, load_tests, with_test
from evals.scenarios.loader import ScenarioError

FILE = """# What louder must do.
models:
- say: ok
tests:  # in order
  # the usual
  - input: a
    equals: A
"""
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=60)


def test_the_tests_lie_beside_the_flow() -> None:
    assert file_of_tests(Path("flows/echo.json")) == Path("flows/echo.tests.yaml")
    assert file_of_tests(Path("a.b.flow")) == Path("a.b.tests.yaml")


@given(TEXT, TEXT)
def test_a_test_that_is_added_is_read_as_it_was_given(text: str, output: str) -> None:
    case: dict[str, Any] = {"input": text, "equals": output}
    for before in ("", FILE, "tests:\n- {input: a, equals: b}\n"):
        after = with_test(before, case)
        assert yaml.safe_load(after)["tests"][-1] == case
        assert after.startswith(before.rstrip("\n"))


@pytest.mark.parametrize("text", ["tests: [{input: a, equals: b}]\n", FILE + "models: []\n", "tests:\n- a: 1\nx: 2\n"])
def test_a_file_that_goes_on_after_its_tests_is_left_alone(text: str) -> None:
    with pytest.raises(ScenarioError, match="ends the file"):
        with_test(text, {"input": "b", "equals": "B"})


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "echo.tests.yaml"
    path.write_text(with_test(FILE, {"name": "second", "input": "b", "unlike": "c", "timeout": 5}))
    first, second = load_tests(path).tests
    assert (first.title, first.inputs, first.timeout) == ("'a'", ("a",), 60.0)
    assert (second.title, second.inputs, second.timeout) == ("second", ("b", "c"), 5.0)
