"""One process of the engine as the client sees it: its socket, its process id, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass

from flows.document import JsonObject


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        code: its exit code, negative for a signal; None if it never started or nobody knows.
        peak_mb: its peak memory in MB.
        engine_died: whether it ended because the engine did.
    """

    code: int | None = None
    peak_mb: float = 0
    engine_died: bool = False

    @classmethod
    def read(cls, message: JsonObject) -> Ended:
        """Read the engine's report of its end."""
        code, peak = message.get("code"), message.get("peak_mb")
        return cls(
            code=code if isinstance(code, int) else None, peak_mb=float(peak) if isinstance(peak, int | float) else 0.0
        )


class RunProcess:
    """A process that was asked for.

    Attributes:
        number: names it between client and engine.
        connection: this end of its socket.
        warm_steps: how many steps the engine had warmed up when it was forked.
        pid: its process id, once it is forked; 0 if it never was.
        ended: its end.
        running: whether it was given something to run.
        peak_mb: its peak memory in MB when it was last looked at while it ran.
    """

    def __init__(self, number: int, connection: socket.socket, warm_steps: int) -> None:
        """Take over a connected socket."""
        loop = asyncio.get_running_loop()
        connection.settimeout(0)
        self.number = number
        self.connection = connection
        self.warm_steps = warm_steps
        self.pid: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[Ended] = loop.create_future()
        self.running = False
        self.peak_mb = 0.0

    def forked(self, message: JsonObject) -> None:
        """Take in the engine's report that it is forked."""
        pid = message.get("pid")
        if not self.pid.done():
            self.pid.set_result(pid if isinstance(pid, int) else 0)

    def end(self, ended: Ended) -> None:
        """Note its end; closes the socket, unless something still reads what it wrote."""
        for future, value in ((self.pid, 0), (self.ended, ended)):
            if not future.done():
                future.set_result(value)  # pyright: ignore[reportArgumentType]  (each has the value of its own type)
        if not self.running:
            self.close()
        elif ended.engine_died:
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)  # whoever reads from it learns that it is over

    def close(self) -> None:
        """Close the socket, which ends a process that waits."""
        self.connection.close()
