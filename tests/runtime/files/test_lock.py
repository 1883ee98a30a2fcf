"""A lock that belongs to one holder and dies with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.files.lock import FileLock

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import asyncio, sys
from pathlib import Path
from runtime.files.lock import FileLock
async def main():
    assert await FileLock(Path(sys.argv[1])).acquire(5, print)
    print("held", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


async def test_a_lock_is_not_had_twice_and_can_be_had_again(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "deep" / "lock"), FileLock(tmp_path / "deep" / "lock")
    told: list[str] = []
    assert await first.acquire(0, lambda: told.append("first"))
    assert not await second.acquire(0, lambda: told.append("second"))
    assert told == ["second"]
    first.release()
    first.release()
    assert await second.acquire(0, lambda: told.append("again"))
    assert told == ["second"]
    second.release()


async def test_a_lock_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as holder:  # noqa: ASYNC220  (starts at once)
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        assert not await FileLock(lock).acquire(0, lambda: None)
        holder.kill()
        holder.wait()
    again = FileLock(lock)
    assert await again.acquire(5, lambda: None)
    again.release()
