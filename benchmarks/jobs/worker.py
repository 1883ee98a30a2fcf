"""A worker whose jobs wait for some time, in a process of its own; it prints its processor seconds at its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from runtime.database.database import Database
from runtime.jobs.job import Claim, Outcome
from runtime.jobs.worker import Worker, WorkerOptions


async def _perform(claim: Claim) -> Outcome:
    await asyncio.sleep(float(str(claim.given.get("seconds", 0))))
    return Outcome(result={"output": "done"})


async def _main(url: str, name: str, places: int, data: Path) -> None:
    database, stop = Database(url, data), asyncio.Event()
    worker = Worker(database, name, {"run": _perform}, WorkerOptions(places=places))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    working = asyncio.create_task(worker.run())
    await database.open()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    begun = os.times()
    await stop.wait()
    ended = os.times()
    await worker.stop(0)
    await working
    await database.aclose()
    sys.stdout.write(f"{ended.user + ended.system - begun.user - begun.system:.3f}\n")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
