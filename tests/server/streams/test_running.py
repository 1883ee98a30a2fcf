"""Turns and their readers without a connection: any pace, any order, a store that fails, clocks that jump."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.contract.events import CompleteData, CompleteEvent, Event, StopReason, TokenEvent, read_event
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from server.store.turns import UNSTORED, Lines, NewEvents, SteadyClock, TurnStore
from server.streams.event_log import LATEST_BYTES, EventLog, Reader
from server.streams.running import RunningTurn, RunningTurns

pytestmark = pytest.mark.anyio
OWNER = "ada"


class Script:
    """A turn that says so many things and then waits until it is let go or stopped."""

    session = "s"

    def __init__(self, count: int = 3, *, size: int = 10, waits: bool = False) -> None:
        self.count, self.text = count, "x" * size
        self.go_on, self.stopped = asyncio.Event(), list[StopReason]()
        if not waits:
            self.go_on.set()

    async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
        for number in range(1, self.count):
            await send(TokenEvent(chunk=f"{number} {self.text}"))
        await self.go_on.wait()
        await send(CompleteEvent(data=CompleteData(result=",".join(self.stopped))))

    def stop(self, reason: StopReason) -> None:
        self.stopped.append(reason)
        self.go_on.set()


@asynccontextmanager
async def turns(
    folder: Path, *, grace: float = 60, kept: float = 60, clock: SteadyClock | None = None
) -> AsyncGenerator[RunningTurns]:
    database = Database(f"sqlite+aiosqlite:///{folder / 'w.db'}", folder)
    running = RunningTurns(database, asyncio.Event(), grace=grace, kept=kept, data=folder, clock=clock)
    try:
        yield running
    finally:
        await running.aclose()
        await database.aclose()


async def all_of(events: AsyncGenerator[Lines]) -> list[tuple[int, bytes]]:
    async with aclosing(events):
        return [line async for lines in events for line in lines]


async def stored(running: RunningTurns, turn: RunningTurn) -> None:
    """Wait until the last event of a turn is stored."""
    with anyio.fail_after(10):
        while running.get(OWNER, turn.id) is not None:  # noqa: ASYNC110  (its last write sets no event)
            await asyncio.sleep(0.01)


@pytest.mark.parity("aisdk-backpressure")
async def test_a_reader_that_stops_reading_slows_nobody_and_takes_no_memory(tmp_path: Path) -> None:
    async with turns(tmp_path) as running:
        turn = await running.start(OWNER, Script(5_000, size=1_000), resumable=True)
        slow, fast = turn.join(), turn.join()
        slowly = running.read(turn, slow)
        seen = list(await anext(slowly))
        assert len(await all_of(running.read(turn, fast))) == 5_000
        await stored(running, turn)
        assert (turn.log.last - turn.log.first) * 1_000 < LATEST_BYTES
        seen += await all_of(slowly)
    assert [number for number, _ in seen] == list(range(1, 5_001))
    events = [read_event(line) for _, line in seen]
    assert [event.chunk.split()[0] for event in events if isinstance(event, TokenEvent)] == [
        str(number) for number in range(1, 5_000)
    ]


async def test_a_turn_without_a_reader_takes_no_memory(tmp_path: Path) -> None:
    async with turns(tmp_path) as running:
        turn = await running.start(OWNER, Script(3_000, size=2_000))
        await stored(running, turn)
        assert (turn.log.last - turn.log.first) * 2_000 < LATEST_BYTES
        assert len(await all_of(running.read_stored(OWNER, turn.id, 0))) == 3_000


async def test_a_reader_that_comes_back_at_once_keeps_a_turn_alive(tmp_path: Path) -> None:
    script = Script(waits=True)
    async with turns(tmp_path, grace=0.01) as running:
        turn = await running.start(OWNER, script, resumable=True)
        turn.leave(turn.join(as_client=True))
        reader = turn.join()
        await asyncio.sleep(0.05)
        assert script.stopped == []
        turn.leave(reader)
        await turn.ended()
    assert script.stopped == ["abandoned"]


async def test_leaving_twice_is_leaving_once(tmp_path: Path) -> None:
    script = Script(waits=True)
    async with turns(tmp_path) as running:
        turn = await running.start(OWNER, script)
        watcher, client = turn.join(), turn.join(as_client=True)
        turn.leave(watcher)
        turn.leave(watcher)
        assert script.stopped == [], "the turn ends with its client, not with who watches"
        turn.leave(client)
        turn.leave(client)
    assert script.stopped == ["abandoned"]


async def test_a_turn_that_breaks_ends_with_an_event_all_the_same(tmp_path: Path) -> None:
    class Broken(Script):
        async def run(self, send: Callable[[Event], Awaitable[None]]) -> None:
            await send(TokenEvent(chunk="Hello"))
            raise KeyError("broken")

    async with turns(tmp_path) as running:
        turn = await running.start(OWNER, Broken())
        found = await all_of(running.read(turn, turn.join()))
        with pytest.raises(KeyError):
            await turn.task
    assert [b'"cancelled"' in line for _, line in found] == [False, True]


@pytest.mark.parametrize("jump", [86_400.0 * 365, -86_400.0 * 365])
async def test_a_clock_that_jumps_deletes_nothing_and_reorders_nothing(jump: float, tmp_path: Path) -> None:
    wall = [time.time()]
    async with turns(tmp_path, clock=SteadyClock(now=lambda: wall[0])) as running:
        turn = await running.start(OWNER, Script(waits=True), turn_id="t", is_named=True, resumable=True)
        reader = turn.join()
        wall[0] += jump
        turn.stop("stopped")
        seen = await all_of(running.read(turn, reader))
        await stored(running, turn)
        await (await running.store()).prune()
        found = await running.find(OWNER, "t")
        assert found is not None
        assert not found.is_gone
        assert await all_of(running.read_stored(OWNER, "t", 0)) == seen


async def test_events_that_are_old_enough_are_deleted_and_later_their_turn(tmp_path: Path) -> None:
    now = [0.0]
    async with turns(tmp_path, clock=SteadyClock(lambda: now[0])) as running:
        ended = await running.start(OWNER, Script(), "ended", is_named=True)
        runs = await running.start(OWNER, Script(waits=True), turn_id="runs", is_named=True)
        await stored(running, ended)
        store = await running.store()
        now[0] = 59
        await store.prune()
        assert len(await all_of(running.read_stored(OWNER, "ended", 0))) == 3
        now[0] = 61
        found = await running.find(OWNER, "ended")
        assert found is not None
        assert found.is_gone, "before they are deleted, too"
        await store.prune()
        assert await all_of(running.read_stored(OWNER, "ended", 0)) == []
        assert await running.find(OWNER, "ended") is not None
        now[0] = 30 * 86_400.0
        await store.prune()
        assert await running.find(OWNER, "ended") is None
        assert len(await running.elsewhere.stored(OWNER, "runs", 0)) == 2, "a turn that runs is not old"
        runs.stop("stopped")


class Failing(RunningTurns):
    """Turns whose store fails while it is told to."""

    fails = True

    async def store(self) -> TurnStore:
        """Fail."""
        if self.fails:
            raise StoreUnavailable
        return await super().store()


async def test_while_nothing_can_be_stored_a_turn_waits_for_its_reader_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.streams.event_writer.RETRY_SECONDS", 0.01)
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}", tmp_path)
    running = Failing(database, asyncio.Event(), grace=60, kept=60, data=tmp_path)
    count = 3 * UNSTORED
    turn = await running.start(OWNER, Script(count))
    reading = running.read(turn, turn.join(as_client=True))
    seen = list(await anext(reading))
    await asyncio.sleep(0.1)
    assert turn.log.last - turn.log.first <= 2 * UNSTORED, "the turn waits"
    seen += await all_of(reading)
    assert [number for number, _ in seen] == list(range(1, count + 1))
    running.fails = False
    await stored(running, turn)
    found = await running.find(OWNER, turn.id)
    assert found is not None
    assert found.state == "complete"
    await running.aclose()
    await database.aclose()


async def test_what_comes_while_events_are_stored_is_stored_with_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turns(tmp_path) as running:
        store, free, sizes = await running.store(), asyncio.Event(), list[int]()
        append = store.append

        async def held(added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
            sizes.append(sum(len(one.lines) for one in added))
            if len(sizes) == 1:
                await free.wait()
            return await append(added, again=again)

        monkeypatch.setattr(store, "append", held)
        script = Script(200, waits=True)
        turn = await running.start(OWNER, script, resumable=True)
        with anyio.fail_after(30):
            while not sizes:  # noqa: ASYNC110  (its first write sets no event)
                await asyncio.sleep(0.01)
        script.go_on.set()
        await turn.ended()
        free.set()
        await stored(running, turn)
    assert (sum(sizes), len(sizes)) == (200, 2), sizes


async def test_events_are_stored_once_when_the_reply_to_a_write_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.streams.event_writer.RETRY_SECONDS", 0.01)
    async with turns(tmp_path) as running:
        store = await running.store()
        append, lost = store.append, [True]

        async def append_and_lose(added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
            refused = await append(added, again=again)
            if lost:
                lost.clear()
                raise StoreUnavailable
            return refused

        monkeypatch.setattr(store, "append", append_and_lose)
        turn = await running.start(OWNER, Script(50))
        seen = await all_of(running.read(turn, turn.join()))
        await stored(running, turn)
        assert await all_of(running.read_stored(OWNER, turn.id, 0)) == seen


async def test_a_turn_that_cannot_be_stored_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.streams.event_writer.RETRY_SECONDS", 0.01)
    async with turns(tmp_path) as running:
        store = await running.store()
        append = store.append

        async def refuse(added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
            if any(one.session == "broken" for one in added):
                raise UnicodeError("broken")
            return await append(added, again=again)

        monkeypatch.setattr(store, "append", refuse)
        script = Script()
        script.session = "broken"
        broken, other = await running.start(OWNER, script), await running.start(OWNER, Script())
        seen = await all_of(running.read(other, other.join()))
        await stored(running, other)
        assert await all_of(running.read_stored(OWNER, other.id, 0)) == seen
        await stored(running, broken)
        assert await running.find(OWNER, broken.id) is None


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop of the test's own: hypothesis calls functions that are not coroutines."""
    made = asyncio.new_event_loop()
    yield made
    made.close()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 5)),
        st.tuples(st.just("store"), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, 2)),
        st.tuples(st.just("cut"), st.integers(0, 2)),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS, large=st.booleans())
def test_readers_get_every_event_once_and_in_order_however_they_come_and_go(
    steps: list[tuple[str, int]], large: bool, loop: asyncio.AbstractEventLoop
) -> None:
    async def check() -> None:
        kept: list[tuple[int, bytes]] = []

        async def read(_: str, __: str, after: int) -> Lines:
            return [line for line in kept if line[0] > after][:3]

        log = EventLog(OWNER, "t", "s", lambda _: None)
        seen: list[list[tuple[int, bytes]]] = [[], [], []]
        reading = {at: log.read(Reader(0), read) for at in range(3)}
        for step, value in steps:
            if step == "write":
                for _ in range(value):
                    log.write(b"%d" % (log.last + 1) + (b" " * 30_000 if large else b""))
            elif step == "store" and (added := log.unstored()) is not None:
                kept += list(enumerate(added.lines, added.first))
                log.has_stored(added)
            elif step == "read" and (not seen[value] or seen[value][-1][0] < log.last) and log.last:
                seen[value] += await anext(reading[value])
            elif step == "cut":
                await reading[value].aclose()
                reading[value] = log.read(Reader(seen[value][-1][0] if seen[value] else 0), read)
        log.write(b"end", "complete")
        for at in range(3):
            seen[at] += await all_of(reading[at])
            assert [number for number, _ in seen[at]] == list(range(1, log.last + 1))
            assert [line.split()[0] for _, line in seen[at][:-1]] == [b"%d" % number for number in range(1, log.last)]

    loop.run_until_complete(check())


async def test_the_turn_that_runs_is_found_by_its_conversation(tmp_path: Path) -> None:
    async with turns(tmp_path) as running:
        assert await running.running(OWNER, "s") is None
        turn = await running.start(OWNER, Script(3), resumable=True)
        assert await running.running(OWNER, turn.log.session) == turn.id
        assert await running.running("another", turn.log.session) is None
        assert await running.running(OWNER, "another") is None
        assert len(await all_of(running.follow(OWNER, turn.id))) == 3
        assert await running.running(OWNER, turn.log.session) is None, "also before its end is stored"
        await stored(running, turn)
        assert await running.running(OWNER, turn.log.session) is None
        assert len(await all_of(running.follow(OWNER, turn.id))) == 3, "from what is stored"
        assert await all_of(running.follow("another", turn.id)) == []


async def test_a_turn_that_runs_on_another_server_is_found(tmp_path: Path) -> None:
    async with turns(tmp_path) as running:
        store = await running.store()
        assert await store.reserve(OWNER, "elsewhere", "s")
        assert await running.running(OWNER, "s") == "elsewhere"
        assert await running.running(OWNER, "t") is None
