"""A worker whose jobs take some time and are written down, in a process of its own.

usage: counting.py URL NAME PLACES NOTES [SKEW], where SKEW is by how many seconds its clocks are wrong.
"""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from runtime.database.database import Database
from runtime.jobs.job import Claim, Outcome
from runtime.jobs.worker import Worker, WorkerOptions


def skew(seconds: float) -> None:
    """Make every clock of this process that tells the time of the day wrong."""
    import datetime as module

    right = time.time
    time.time = lambda: right() + seconds

    class Wrong(module.datetime):
        @classmethod
        def now(cls, tz: module.tzinfo | None = None) -> "Wrong":
            return cls.fromtimestamp(time.time(), tz)

    module.datetime = Wrong


async def _main(url: str, name: str, places: int, notes: Path) -> None:
    async def perform(claim: Claim) -> Outcome:
        await asyncio.sleep(float(str(claim.given.get("seconds", 0))))
        with notes.open("a") as file:
            file.write(f"{claim.id} {name}\n")
        return Outcome(result={"by": name, "attempt": claim.attempt}, tokens=1)

    database = Database(url, notes.parent)
    options = WorkerOptions(places=places, lease=1.2, beat=0.3)
    worker = Worker(database, name, {"run": perform, "item": perform}, options)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    working = asyncio.create_task(worker.run())
    sys.stdout.write(f"ready {os.getpid()}\n")
    sys.stdout.flush()
    await stop.wait()
    await worker.stop(5)
    await working
    await database.aclose()


if __name__ == "__main__":
    if len(sys.argv) > 5:
        skew(float(sys.argv[5]))
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
