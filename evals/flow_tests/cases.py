"""What a file of flow tests says, and reading and extending one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final, Self

import yaml
from pydantic import Field, JsonValue, model_validator

from evals.expectation import Probe, Strict, Text
from evals.scenario import ModelRule
from evals.scenarios.loader import ScenarioError, load_document

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


class FlowTests(Strict):
    """The tests of one flow.

    Attributes:
        models: the answers of the models inside the flow; without any, the configured models answer.
        tests: the tests, in the order in which they run.
    """

    models: tuple[ModelRule, ...] = ()
    tests: Annotated[tuple[FlowTest, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        twice = [name for name, count in Counter(test.name for test in self.tests if test.name).items() if count > 1]
        if twice:
            raise ValueError(f"two tests are called {twice[0]!r}")
        return self


def file_of_tests(flow: Path) -> Path:
    """The file of tests that belongs to a flow: `echo.tests.yaml` beside `echo.json`."""
    return flow.with_name(flow.stem + SUFFIX)


def load_tests(path: Path) -> FlowTests:
    """Read a file of tests.

    Raises:
        ScenarioError: it cannot be used; it names the place of every fault.
    """
    return load_document(path, FlowTests)


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
