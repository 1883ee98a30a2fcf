"""Running the tests of a flow, and saying what each gave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from evals.flow_tests.cases import FlowTest, InvalidTest
from evals.play.flow_models import with_models
from evals.scenario import ModelRule
from flows.document import Flow, Json
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

SHOWN = 300
"""Characters of an output that a reason shows."""

INVALID = "invalid_test"
"""The error of a test that cannot be run."""


@dataclass(frozen=True, kw_only=True)
class TestedFlow:
    """What became of one test.

    Attributes:
        name: of the test.
        passed: whether it gave what it must.
        reason: why not; empty when it passed.
        seconds: how long its runs took.
        output: what was compared; None without an output.
        error: the code of the error in which its run ended; `invalid_test` for a test that cannot be run.
    """

    __test__ = False

    name: str
    passed: bool
    reason: str
    seconds: float
    output: str | None
    error: str | None

    @property
    def invalid(self) -> bool:
        """Whether the test could not be run."""
        return self.error == INVALID


@dataclass(frozen=True, kw_only=True)
class PreparedTest:
    """A test that can be run.

    Attributes:
        options: of its runs.
        node: the id of the node whose output is compared; None for the chat output.
    """

    test: FlowTest
    options: RunOptions
    node: str | None = None


async def run_tests(
    flow: Flow, tests: Sequence[PreparedTest | InvalidTest], models: Sequence[ModelRule], runner: FlowRunner
) -> AsyncIterator[TestedFlow]:
    """Run every test, one after the other; one that cannot be run is reported in its place.

    Args:
        flow: the flow.
        tests: its tests.
        models: the answers of the models inside the flow.
        runner: runs it.
    """
    playing = with_models(runner, models)
    for one in tests:
        if isinstance(one, InvalidTest):
            yield TestedFlow(name=one.title, passed=False, reason=one.fault, seconds=0.0, output=None, error=INVALID)
            continue
        results = [await playing.execute(flow, text, one.options) for text in one.test.inputs]
        outputs = [_output(result, one.node) for result in results]
        first = results[0]
        reason = _fault(one.test, results, outputs)
        yield TestedFlow(
            name=one.test.title,
            passed=not reason,
            reason=reason,
            seconds=round(sum(result.metrics.seconds for result in results), 3),
            output=outputs[0],
            error=None if first.error is None else first.error.code,
        )


def _output(result: RunResult, node: str | None) -> str | None:
    """What a test compares: the text of a node's output, by default of the chat's."""
    if node is None:
        return result.output
    value: Json = result.nodes.get(node)
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fault(test: FlowTest, results: Sequence[RunResult], outputs: Sequence[str | None]) -> str:
    """Why a test fails; empty when it passes."""
    first, output = results[0], outputs[0]
    if test.error is not None:
        found = "it succeeded" if first.error is None else f"it ended in {first.error.code!r}"
        return "" if first.error is not None and first.error.code == test.error else f"expected {test}, but {found}"
    for result in results:
        if result.error is not None:
            return f"the run failed ({result.error.code}): {result.error.message} {result.error.fix}".rstrip()
    if output is None:
        return f"there is no output{'' if test.node is None else f' of {test.node}'}"
    if test.has_rule and not test.met_by(output):
        return f"expected {test}, got {_shown(output)}"
    if test.unlike is not None and outputs[1] == output:
        return f"expected another output than for {test.unlike!r}, got {_shown(output)} for both"
    return ""


def _shown(output: str) -> str:
    return repr(output) if len(output) <= SHOWN else f"{output[:SHOWN]!r}… ({len(output)} characters)"
