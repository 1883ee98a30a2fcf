"""Child processes: each leads its own process group, which is killed as a whole."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

KILL_TIMEOUT = 3.0
"""Seconds to wait for the end of a killed program."""


def kill_group(pid: int) -> None:
    """Kill a process and its whole process group; does nothing when it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


async def run_program(
    command: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    *,
    timeout: float,
    on_line: Callable[[str], None] | None = None,
) -> int | None:
    """Run a program to its end and return its exit code.

    When this is cancelled or takes too long, the program's whole process group has ended before this returns.

    Args:
        command: the program and its arguments.
        variables: its whole environment.
        folder: its working directory.
        timeout: seconds that it may take.
        on_line: called with each line that it writes to either stream.

    Returns:
        The exit code; None when it took too long, -1 when it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, env=variables, cwd=folder, start_new_session=True
        )
    except OSError:
        return -1
    assert process.stdout is not None  # noqa: S101 - a pipe, see above
    try:
        async with asyncio.timeout(timeout):
            await _read_lines(process.stdout, on_line or (lambda _: None))
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            kill_group(process.pid)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KILL_TIMEOUT):  # it writes to folders that are removed next
                    await process.communicate()


async def _read_lines(stream: asyncio.StreamReader, on_line: Callable[[str], None]) -> None:
    """Call `on_line` with each line; of an unfinished line only the last 8 kB are kept."""
    rest = b""
    while chunk := await stream.read(8192):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            on_line(line.decode("utf-8", errors="replace"))
        rest = rest[-8192:]
    on_line(rest.decode("utf-8", errors="replace"))
