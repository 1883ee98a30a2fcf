"""What runs the tests of a flow. The server is given one, since the harness that does it is none of its parts."""

from __future__ import annotations

from typing import Protocol

from agent.contract.model import Received
from flows.catalogue import Catalogue
from flows.document import Flow, Json
from runtime.options import RunOptions
from tools.workbench import FlowRunner


class TestedCase(Received):
    """What became of one test.

    Attributes:
        name: of the test; by default its input.
        passed: whether it gave what it must.
        reason: why not; empty when it passed.
        seconds: how long its runs took.
        output: what was compared; null without an output.
        error: the code of the error in which its run ended; `invalid_test` for a test that cannot be run.
    """

    __test__ = False  # it is no test

    name: str
    passed: bool
    reason: str
    seconds: float
    output: str | None
    error: str | None


class InvalidTests(ValueError):
    """Tests that are not as docs/flow-tests.md says.

    Args:
        message: what is wrong.
        place: where, as a JSON path.
    """

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class FlowTester(Protocol):
    """Reads and runs the tests of flows."""

    def check(self, tests: Json) -> None:
        """Say whether tests can be used.

        Raises:
            InvalidTests: they cannot.
        """
        ...

    async def run(
        self, tests: Json, flow: Flow, catalogue: Catalogue, runner: FlowRunner, options: RunOptions
    ) -> list[TestedCase]:
        """Run every test, one after the other.

        Args:
            tests: the tests and their models, as docs/flow-tests.md has them.
            flow: the flow.
            catalogue: the component types.
            runner: runs it.
            options: of every run; each test adds its own.

        Raises:
            InvalidTests: they cannot be used.
        """
        ...
