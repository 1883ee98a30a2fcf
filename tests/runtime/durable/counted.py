"""A process that takes a workflow of two steps, and is killed in the second one when it is told to be."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from dbos import DBOS, SetWorkflowID, WorkflowHandleAsync

from runtime.durable.engine import DurableEngine


def _note(line: str) -> None:
    with Path(sys.argv[2]).open("a") as notes:
        notes.write(f"{line}\n")


async def _first() -> dict[str, str]:
    _note("first")
    return {"said": "hello"}


async def _second() -> None:
    _note("second")
    if sys.argv[3] == "die":
        os.kill(os.getpid(), signal.SIGKILL)


@DBOS.workflow(name="counted")
async def counted(subject: str) -> str:
    """Two steps."""
    first = await DBOS.run_step_async({"name": "first"}, _first)
    await DBOS.run_step_async({"name": "second"}, _second)
    return f"{first['said']} {subject}"


async def _main() -> None:
    engine = DurableEngine(sys.argv[1], "one")
    await engine.launch()
    if sys.argv[3] == "die":
        with SetWorkflowID("only"):
            await DBOS.start_workflow_async(counted, "world")
    handle: WorkflowHandleAsync[str] = await DBOS.retrieve_workflow_async("only")
    sys.stdout.write(await handle.get_result(polling_interval_sec=0.02))
    await engine.aclose()


if __name__ == "__main__":
    asyncio.run(_main())
