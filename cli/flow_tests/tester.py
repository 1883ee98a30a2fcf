"""What runs the saved tests of stored flows for a server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cli.errors import BadUsage
from cli.flow.tweaks import Tweak, checked_tweaks, named_node
from server.flow_tests.tester import InvalidTests, TestedCase

if TYPE_CHECKING:
    from cli.flow.source import LoadedFlow
    from evals.flow_tests.cases import FlowTests, InvalidTest
    from evals.flow_tests.running import PreparedTest
    from flows.catalogue import Catalogue
    from flows.document import Flow, Json
    from runtime.options import RunOptions
    from tools.workbench import FlowRunner


class StoredFlowTester:
    """Reads and runs tests as `wirewright flow test` does."""

    def check(self, tests: Json) -> None:
        """Say whether tests can be used; one that cannot be run is a reason to refuse them all.

        Raises:
            InvalidTests: they cannot.
        """
        from evals.flow_tests.cases import InvalidTest

        for number, test in enumerate(_read(tests).tests):
            if isinstance(test, InvalidTest):
                raise InvalidTests(f"{test.title}: {test.fault}.", f"$.tests[{number}]")

    async def run(
        self, tests: Json, flow: Flow, catalogue: Catalogue, runner: FlowRunner, options: RunOptions
    ) -> list[TestedCase]:
        """Run every test, one after the other.

        Raises:
            InvalidTests: they cannot be used.
        """
        from cli.flow.source import LoadedFlow
        from evals.flow_tests import running

        cases = _read(tests)
        prepared = prepared_tests(cases, LoadedFlow(flow=flow), catalogue, options, run=f" {uuid4().hex[:8]}")
        ran = running.run_tests(flow, prepared, cases.models, runner)
        return [
            TestedCase(
                name=one.name,
                passed=one.passed,
                reason=one.reason,
                seconds=one.seconds,
                output=one.output,
                error=one.error,
            )
            async for one in ran
        ]


def prepared_tests(
    cases: FlowTests, loaded: LoadedFlow, catalogue: Catalogue, options: RunOptions, *, run: str = ""
) -> list[PreparedTest | InvalidTest]:
    """The tests with the options of their runs; one whose tweaks or node do not fit the flow cannot be run.

    Args:
        cases: the tests.
        loaded: the flow.
        catalogue: the component types.
        options: of every run.
        run: what the sessions of these runs end with, so that none goes on with an earlier one's.
    """
    from evals.flow_tests.cases import InvalidTest
    from evals.flow_tests.running import PreparedTest

    found: list[PreparedTest | InvalidTest] = []
    for test in cases.tests:
        if isinstance(test, InvalidTest):
            found.append(test)
            continue
        try:
            given = [_tweak(place, value) for place, value in test.tweaks.items()]
            tweaks = checked_tweaks(given, loaded, catalogue)
            node = None if test.node is None else named_node(test.node, loaded).id
        except BadUsage as refused:
            found.append(InvalidTest(test.title, f"{refused.message} {refused.fix}".rstrip()))
            continue
        made = replace(
            options,
            tweaks=tweaks,
            session=f"{test.session}{run}" if test.session else None,
            timeout=test.timeout,
            want_nodes=node is not None,
        )
        found.append(PreparedTest(test=test, options=made, node=node))
    return found


def _tweak(place: str, value: Any) -> Tweak:
    node, _, field = place.rpartition(".")
    return Tweak(node, field, value)


def _read(tests: Json) -> FlowTests:
    from evals.flow_tests.cases import tests_of
    from evals.scenarios.loader import ScenarioError

    try:
        return tests_of(tests)
    except ScenarioError as error:
        raise InvalidTests(f"{error.message}.", f"$.{error.place}") from None
