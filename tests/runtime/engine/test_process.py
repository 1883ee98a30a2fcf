"""The client's end of the engine's process, on a stand-in for it."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runtime.engine.process import Engine, EngineDied
from tests.processes.ends import alive
from tests.runtime.conftest import FAKE_HEAD

pytestmark = pytest.mark.anyio


async def started(folder: Path, body: str) -> Engine:
    script = folder / "engine.py"
    script.write_text(f"{FAKE_HEAD}say(HELLO)\n{body}", encoding="utf-8")
    return await Engine.start([sys.executable, str(script)], {}, folder, limit=60)


@pytest.mark.parametrize("body", ["for _ in requests(): pass", "time.sleep(600)"], ids=["obeys", "does not obey"])
async def test_an_engine_has_ended_when_it_is_closed(tmp_path: Path, body: str) -> None:
    engine = await started(tmp_path, body)
    await engine.close()
    assert not alive(engine.pid)
    await engine.close()


@pytest.mark.parametrize("ending", [Engine.close, Engine.kill], ids=["close", "kill"])
@pytest.mark.parametrize("steps", [1, 2, 3])
async def test_an_engine_has_ended_when_its_end_is_cancelled(
    tmp_path: Path, ending: Callable[[Engine], Awaitable[None]], steps: int
) -> None:
    engine = await started(tmp_path, "time.sleep(600)")
    task = asyncio.create_task(ending(engine))
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(engine.pid)


async def test_an_engine_whose_output_another_process_holds_is_ended_in_a_few_seconds(tmp_path: Path) -> None:
    body = """
import subprocess
for request in requests():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    (FOLDER / "pid").write_text(str(child.pid))
    say({"type": "warm", "id": request["id"]})
"""
    engine = await started(tmp_path, body.replace("FOLDER", f"__import__('pathlib').Path({str(tmp_path)!r})"))
    await engine.warming(1)
    answer = engine.warming(2)
    holding = int((tmp_path / "pid").read_text())
    try:
        async with asyncio.timeout(30):
            await engine.kill()
        assert not alive(engine.pid)
        with pytest.raises(EngineDied):
            await answer
    finally:
        os.kill(holding, signal.SIGKILL)
