"""The harness's own runs: one whose process ended for no reason of the flow's is made once more, and never counted."""

from __future__ import annotations

from typing import Any, Final, cast

from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import BUSY, RunResult
from tools.workbench import FlowRunner

READY_SECONDS: Final = 120.0
"""How long the second try waits for an engine that starts anew."""


class EngineCrashed(Exception):
    """The engine's process ended twice in a run of the harness, with a flow that has no code of its own."""


def own_runs(runner: FlowRunner) -> FlowRunner:
    """A runner for the harness's own runs.

    A run that ends with its process (killed, or an exit code such as 70), or that was not accepted, says nothing of the
    flow: it is made once more, in a fresh process. A flow whose own code ends the process a second time has failed; of
    any other, its `execute` raises `EngineCrashed`. Limits that a flow reaches are results, as always.
    """
    return runner if isinstance(runner, _OwnRuns) else cast("FlowRunner", _OwnRuns(runner))


class _OwnRuns:
    def __init__(self, runner: FlowRunner) -> None:
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow, once more if the process ended.

        Raises:
            EngineCrashed: it ended again, and the flow has no code of its own.
        """
        result = await self._runner.execute(flow, text, options)
        if not _crashed(result):
            return result
        await self._runner.ready(READY_SECONDS)
        again = await self._runner.execute(flow, text, options)
        if not _crashed(again) or again.untrusted_code:
            return again
        message = "" if again.error is None else again.error.message
        raise EngineCrashed(f"the flow engine ended twice in a run of the harness: {message}")


def _crashed(result: RunResult) -> bool:
    return result.error is not None and (result.error.code == "crash" or result.error.message == BUSY.message)
