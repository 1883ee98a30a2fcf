"""The client against an engine process that misbehaves in every way it can."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.engine import control, process, protocol, queue
from runtime.engine.runs import conversation
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.processes.ends import alive
from tests.runtime.unguarded import run_unguarded

Fake = Callable[[str], RunnerEnvironment]
pytestmark = pytest.mark.anyio
EMPTY = Flow.empty()
ANSWER = 'say(HELLO)\nfor request in requests():\n    if request["type"] == "run": result(request, request["text"])\n'
# The first process misbehaves on its first run; the one that replaces it answers.
ONCE = """
say(HELLO)
bad = not os.path.exists("spoilt")
for request in requests():
    if request["type"] != "run": continue
    if not bad:
        result(request, request["text"])
        continue
    open("spoilt", "w").close()
    {act}
"""


@asynccontextmanager
async def opened(environment: RunnerEnvironment, **options: int) -> AsyncGenerator[Runner]:
    made = Runner(environment, catalogue=Catalogue({}), **options)
    try:
        yield made
    finally:
        await made.aclose()


async def test_run_gives_the_engines_answer_when_it_keeps_to_the_protocol(fake: Fake) -> None:
    async with opened(fake(ANSWER)) as made:
        result = await made.run(EMPTY, "hello")
        assert result.ok
        assert result.output == "hello"
        assert made.state == "ready"


@pytest.mark.parametrize(
    "act",
    [
        'control.sendall(b"no json\\n"); time.sleep(600)',
        "say([1, 2])",
        'say({"type": "surprise"})',
        "os._exit(9)",
        "os.kill(os.getpid(), 9)",
        "control.close(); os.close(0); time.sleep(600)",
        'control.sendall(b"[" * 200000 + b"\\n"); time.sleep(600)',
    ],
)
async def test_run_is_a_crash_and_the_next_one_works_when_the_engine_breaks(fake: Fake, act: str) -> None:
    async with opened(fake(ONCE.replace("{act}", act))) as made:
        first = await made.run(EMPTY, "one")
        assert first.error is not None
        assert first.error.code == "crash"
        assert (await made.run(EMPTY, "two")).output == "two"


async def test_run_is_a_crash_when_the_engine_writes_a_line_without_end(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "MAX_LINE", 100_000)
    act = 'while True: control.sendall(b"x" * 65536)'
    async with opened(fake(ONCE.replace("{act}", act))) as made:
        first = await made.run(EMPTY, "one")
        assert first.error is not None
        assert first.error.code == "crash"
        assert (await made.run(EMPTY, "two")).output == "two"


async def test_run_times_out_and_the_next_one_works_when_the_engine_hangs(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "GRACE", 0.1)
    monkeypatch.setattr(process, "KILL_TIMEOUT", 0.1)
    monkeypatch.setattr(process, "CANCEL_TIMEOUT", 0.1)
    async with opened(fake(ONCE.replace("{act}", "time.sleep(600)")), concurrency=1) as made:
        first = await made.run(EMPTY, "one", timeout=0.1)
        assert first.error is not None
        assert first.error.code == "timeout"
        assert (await made.run(EMPTY, "two")).output == "two"


async def test_every_waiting_run_ends_when_the_engine_dies(fake: Fake) -> None:
    body = "say(HELLO)\nincoming = requests()\nnext(incoming); next(incoming); next(incoming)\nos._exit(1)\n"
    async with opened(fake(body), concurrency=3) as made:
        results = await asyncio.gather(*(made.run(EMPTY, str(n)) for n in range(3)))
        assert [result.error.code for result in results if result.error is not None] == ["crash"] * 3


async def test_the_engine_is_repaired_and_failure_is_reported_when_it_speaks_another_protocol(fake: Fake) -> None:
    environment = fake('say({"type": "hello", "protocol": 99})\ntime.sleep(600)\n')
    async with opened(environment) as made:
        result = await made.run(EMPTY, "one")
        assert result.error is not None
        assert result.error.code == "crash"
        assert "protocol" in result.error.message
        assert made.state == "failed"
        assert made.failure == result.error
        assert not await made.ready(5)
    repairs: tuple[list[bool], ...] = vars(environment)["repairs"]
    assert repairs[0][:2] == [False, True]


async def test_the_reason_is_reported_when_the_engine_cannot_run_here(fake: Fake) -> None:
    body = 'say({"type": "failed", "protocol": 2, "message": "This system cannot fork."})\n'
    async with opened(fake(body)) as made:
        result = await made.run(EMPTY, "one")
        assert result.error is not None
        assert "This system cannot fork." in result.error.message


async def test_run_works_when_the_engine_floods_standard_error(fake: Fake) -> None:
    flood = 'sys.stderr.write("secret /root/path\\n" * 100000); sys.stderr.flush()\n'
    async with opened(fake(flood + ANSWER)) as made:
        assert (await made.run(EMPTY, "hello")).output == "hello"


async def test_run_is_refused_when_the_flow_is_too_large(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_REQUEST", 1000)
    async with opened(fake(ANSWER)) as made:
        result = await made.run(EMPTY, "x" * 2000)
        assert result.error is not None
        assert result.error.code == "refused"
        assert (await made.run(EMPTY, "small")).output == "small"


async def test_large_answers_arrive_whole_when_they_take_many_reads(fake: Fake) -> None:
    async with opened(fake(ANSWER)) as made:
        text = "é" * 1_000_000
        assert (await made.run(EMPTY, text)).output == text


@pytest.mark.parametrize(
    ("piece", "times", "said"),
    [
        ("[],", 250_001, "too large"),
        ('{"a":[', 130_000, "too large"),
        ("[", 9_000_000, "too large"),
        ("[", 100_000, "not a result"),
    ],
)
async def test_a_result_of_too_many_or_too_deep_values_is_refused(
    piece: str, times: int, said: str, fake: Fake
) -> None:
    many = f'b\'{{"type":"result","outputs":[\' + {piece.encode()!r} * {times} + b\'0]}}\\n\''
    answer = f"""
say(HELLO)
for request in requests():
    if request["type"] != "run":
        continue
    if request["text"] == "many":
        started(request)
        connections[request["id"]].sendall({many})
        end(request["id"])
    else:
        result(request, request["text"])
"""
    async with opened(fake(answer)) as made:
        result = await made.run(EMPTY, "many")
        assert result.error is not None
        assert result.error.code == "crash"
        assert said in result.error.message
        assert (await made.run(EMPTY, "next")).output == "next"


async def test_one_run_more_is_busy_when_the_queue_is_full(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 1)
    monkeypatch.setattr(process, "CANCEL_TIMEOUT", 0.1)
    held = "say(HELLO)\nfor request in requests():\n    pass\n"
    async with opened(fake(held), concurrency=1) as made:
        assert await made.ready(30)
        tasks = [asyncio.create_task(made.run(EMPTY, str(n))) for n in range(3)]
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        [busy] = [task.result() for task in done]
        assert busy.error is not None
        assert busy.error.code == "limit"
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)


async def test_runs_of_others_go_on_when_the_engine_confirms_a_cancelled_run_late(fake: Fake) -> None:
    """An engine that warms itself up hears of a cancelled run seconds later."""
    body = """
say(HELLO)
for request in requests():
    if request["type"] == "kill" and request["id"] == left:
        time.sleep(3)
        end(left, -9)
        result({"id": other}, "finished")
    elif request["type"] == "run" and request["text"] == "other": other = request["id"]
    elif request["type"] == "run": started(request); left = request["id"]
"""
    async with opened(fake(body), concurrency=2) as made:
        other = asyncio.create_task(made.run(EMPTY, "other"))
        begun = asyncio.Event()
        left = asyncio.create_task(run_unguarded(made, {}, "x", run_id="r1", on_started=lambda _: begun.set()))
        await begun.wait()
        left.cancel()
        assert (await other).output == "finished"


async def test_a_cancelled_run_is_cancelled_at_the_engine(fake: Fake, tmp_path: Path) -> None:
    body = f"""
say(HELLO)
for request in requests():
    if request["type"] == "run": started(request)
    if request["type"] == "kill":
        open({str(tmp_path / "cancelled")!r}, "w").write(str(request["id"]))
"""
    async with opened(fake(body), concurrency=1) as made:
        begun = asyncio.Event()
        task = asyncio.create_task(run_unguarded(made, {}, "x", run_id="r1", on_started=lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The only place is free again once the engine has confirmed: another run gets to it.
        begun.clear()
        again = asyncio.create_task(run_unguarded(made, {}, "x", run_id="r2", on_started=lambda _: begun.set()))
        await begun.wait()
        again.cancel()
        with pytest.raises(asyncio.CancelledError):
            await again
    assert (tmp_path / "cancelled").exists()


async def test_closing_ends_the_engine_and_the_runs_when_it_ignores_everything(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CLOSE_TIMEOUT", 0.2)
    body = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(HELLO)\ntime.sleep(600)\n"
    made = Runner(fake(body), catalogue=Catalogue({}))
    assert await made.ready(30)
    pid = made.engine_pid
    assert pid is not None
    running = asyncio.create_task(made.run(EMPTY, "x"))
    await asyncio.sleep(0)
    await made.aclose()
    result = await running
    assert result.error is not None
    assert made.state == "closed"
    assert not alive(pid)
    assert (await made.run(EMPTY, "x")).error is not None
    await made.aclose()


async def test_closing_does_not_wait_when_the_engine_is_still_starting(fake: Fake) -> None:
    made = Runner(fake("time.sleep(600)\n"), catalogue=Catalogue({}))
    await made.start()
    assert not await made.ready(0.05)
    await made.aclose()
    assert made.state == "closed"


async def test_a_run_does_not_start_when_it_is_cancelled_while_it_waits_for_a_place(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CANCEL_TIMEOUT", 0.1)
    async with opened(fake(ANSWER), concurrency=1) as made:
        assert await made.ready(30)
        task = asyncio.create_task(made.run(EMPTY, "never"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await made.run(EMPTY, "next")).output == "next"
