"""A process that stores the events of many turns, as a worker does: each says when it was written."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from server.json_response import json_bytes
from server.store.turn_rows import SqlTurns
from server.store.turns import SteadyClock
from server.streams.event_log import EventLog
from server.streams.event_writer import EventWriter


async def _main(url: str, data: Path, turns: int, a_second: float, seconds: float) -> None:
    database = Database(url, data)
    await database.open()
    store = SqlTurns(database, "bench", 3_600, SteadyClock(), durable=True)

    async def opened() -> SqlTurns:
        return store

    async def ended(log: EventLog) -> None:
        del log

    writer = EventWriter(opened, ended)
    logs = [
        EventLog(LOCAL_USER, f"s{at}", "s", writer.wake, is_new=False, is_urgent=True, attempt=1) for at in range(turns)
    ]
    for log in logs:
        await store.reserve(LOCAL_USER, log.turn, "s", durable=True)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    begun, sent = time.monotonic(), 0
    while (now := time.monotonic() - begun) < seconds:
        while sent < now * a_second:
            logs[sent % turns].write(json_bytes({"event": "token", "chunk": f"@{time.monotonic():.6f}@"}))
            sent += 1
        await asyncio.sleep(0.002)
    for log in logs:
        log.write(b'{"event":"cancelled"}', "cancelled")
    await writer.aclose()
    sys.stdout.write(f"{sent}\n")
    sys.stdout.flush()
    await database.aclose()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])))
