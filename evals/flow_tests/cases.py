"""What a file of flow tests says, and reading and extending one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from pydantic import Field, JsonValue, ValidationError

from evals.expectation import Probe, Strict, Text
from evals.scenario import ModelRule
from evals.scenarios.loader import ScenarioError, fault_words, load_document

SUFFIX: Final = ".tests.yaml"
"""What the name of a file of tests ends with, in place of the flow's own ending."""

SECONDS: Final = 60.0
"""How long one run of a test may take unless it says otherwise."""


class FlowTest(Probe):
    """One run of a flow with what it must give: a probe with a name and the circumstances of its run.

    Attributes:
        name: what it is called; by default its input.
        node: the node whose output is compared; by default the chat output.
        session: tests with the same session run in order and share their messages.
        tweaks: values for this test alone, by `NODE.FIELD`.
        timeout: seconds that the run may take.
    """

    name: Text | None = None
    node: Text | None = None
    session: Text | None = None
    tweaks: dict[Annotated[str, Field(pattern=r"^.+\..+$")], JsonValue] = Field(default_factory=dict[str, JsonValue])
    timeout: Annotated[float, Field(gt=0, le=3600, strict=False)] = SECONDS

    @property
    def title(self) -> str:
        """The name, or else the input."""
        return self.name or ("as configured" if self.input is None else repr(self.input))


@dataclass(frozen=True)
class InvalidTest:
    """A test that cannot be run; the others are.

    Attributes:
        title: its name, or its place in the file.
        fault: what is wrong with it.
    """

    title: str
    fault: str


@dataclass(frozen=True)
class FlowTests:
    """The tests of one flow.

    Attributes:
        models: the answers of the models inside the flow; without any, the configured models answer.
        tests: the tests, in the order in which they run.
    """

    models: tuple[ModelRule, ...]
    tests: tuple[FlowTest | InvalidTest, ...]


class _File(Strict):
    models: tuple[ModelRule, ...] = ()
    tests: Annotated[tuple[JsonValue, ...], Field(min_length=1)]


def file_of_tests(flow: Path) -> Path:
    """The file of tests that belongs to a flow: `echo.tests.yaml` beside `echo.json`."""
    return flow.with_name(flow.stem + SUFFIX)


def load_tests(path: Path) -> FlowTests:
    """Read a file of tests; each that cannot be run is there as an `InvalidTest`.

    Raises:
        ScenarioError: the file itself cannot be used.
    """
    return _tests(load_document(path, _File))


def tests_of(document: JsonValue) -> FlowTests:
    """The tests in what a file of tests says; each that cannot be run is there as an `InvalidTest`.

    Raises:
        ScenarioError: it cannot be used.
    """
    try:
        return _tests(_File.model_validate_json(json.dumps(document)))
    except ValidationError as error:
        raise ScenarioError("tests", fault_words(error)) from None


def _tests(file: _File) -> FlowTests:
    found: list[FlowTest | InvalidTest] = []
    names: set[str] = set()
    for number, each in enumerate(file.tests, start=1):
        test = _test(each, number)
        if isinstance(test, FlowTest) and test.name in names:
            test = InvalidTest(f"{test.name} (test {number})", f"another test is called {test.name!r}, too")
        elif isinstance(test, FlowTest) and test.name is not None:
            names.add(test.name)
        found.append(test)
    return FlowTests(file.models, tuple(found))


def _test(given: JsonValue, number: int) -> FlowTest | InvalidTest:
    try:
        return FlowTest.model_validate_json(json.dumps(given))
    except ValidationError as error:
        name = given.get("name") if isinstance(given, dict) else None
        return InvalidTest(name if isinstance(name, str) else f"test {number}", fault_words(error))


def with_test(text: str, case: dict[str, Any]) -> str:
    """The text of a file of tests with one more at its end; comments and layout stay.

    Args:
        text: the file's text; an empty one begins a file.
        case: the test's keys and values.

    Raises:
        ScenarioError: a test cannot be added at the end, because another key follows the tests.
    """
    before: dict[str, Any] = yaml.safe_load(text) if text.strip() else {"tests": []}
    whole = text if text.strip() else "tests:\n"
    dash = re.search(r"^( *)- ", whole[whole.find("tests:") :], re.MULTILINE)
    indent = dash.group(1) if dash else ""
    item = yaml.safe_dump([case], allow_unicode=True, sort_keys=False, width=10_000)
    added = "".join(indent + line if line.strip() else line for line in item.splitlines(keepends=True))
    whole = whole.rstrip("\n") + "\n" + added
    try:
        after = yaml.safe_load(whole)
    except yaml.YAMLError:
        after = None
    if after != {**before, "tests": [*before["tests"], case]}:
        raise ScenarioError("tests", "a test can be added only where the list of tests ends the file")
    return whole
