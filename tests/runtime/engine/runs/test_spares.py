"""Processes that wait for runs: when they are started, and how many wait."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest

from runtime.engine import spares
from runtime.engine.process import Engine
from runtime.engine.spares import Spares

pytestmark = pytest.mark.anyio


@dataclass
class Process:
    """A process that was asked for."""

    number: int
    warm_steps: int = 0
    ended: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass
class Forks:
    """An engine that only counts."""

    warm_ups: int = 0
    busy: bool = False
    forked: int = 0
    discarded: list[int] = field(default_factory=list[int])
    fewer: asyncio.Event = field(default_factory=asyncio.Event)

    def fork(self, warm_steps: int) -> Process:
        """One more process."""
        self.forked += 1
        return Process(self.forked, warm_steps)

    def discard(self, process: Process) -> None:
        """One less."""
        self.discarded.append(process.number)
        if len(self.discarded) == 2:
            self.fewer.set()


def waiting(engine: Forks, count: int, processors: int) -> Spares:
    return Spares(cast("Engine", engine), count, processors)


async def test_a_process_is_started_while_a_processor_is_free() -> None:
    engine = Forks()
    some = waiting(engine, 2, processors=2)
    assert engine.forked == 2
    some.take(models=False)
    some.fill()
    assert engine.forked == 3
    some.done()
    some.close()


async def test_none_is_started_while_runs_have_all_processors_and_more_wait_afterwards() -> None:
    engine = Forks()
    some = waiting(engine, 2, processors=2)
    for _ in range(2):
        some.take(models=False)
        some.fill()
    assert engine.forked == 3  # the first left a processor free
    some.done()
    assert engine.forked == 4
    some.done()
    assert engine.forked == 6
    assert [some.take(models=False).number for _ in range(4)] == [3, 4, 5, 6]
    some.close()


async def test_a_run_never_waits_for_others_to_end_before_its_process_is_started() -> None:
    engine = Forks()
    some = waiting(engine, 1, processors=1)
    numbers: list[int] = []
    for _ in range(3):
        numbers.append(some.take(models=False).number)
        some.fill()
    assert numbers == [1, 2, 3]
    for _ in range(3):
        some.done()
    some.close()


async def test_as_many_as_before_wait_once_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spares, "REST", 0)
    engine = Forks()
    some = waiting(engine, 2, processors=1)
    for _ in range(2):
        some.take(models=False)
        some.fill()
    some.done()
    assert engine.forked == 2
    some.done()
    assert engine.forked == 6
    await engine.fewer.wait()
    assert engine.discarded == [6, 5]
    some.close()
    assert sorted(engine.discarded) == [3, 4, 5, 6]


async def test_the_reserve_is_used_up_by_runs_that_follow_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spares, "REST", 0)
    engine = Forks()
    some = waiting(engine, 1, processors=1)
    for _ in range(2):
        some.take(models=False)
        some.fill()
    some.done()
    some.done()
    assert engine.forked == 4
    for number in (3, 4):
        assert some.take(models=False).number == number
        some.fill()
        some.done()
    assert engine.forked == 5
    some.close()
    assert engine.discarded == [5]


async def test_runs_that_never_overlap_leave_no_more_than_before() -> None:
    engine = Forks()
    some = waiting(engine, 1, processors=1)
    for number in range(1, 4):
        assert some.take(models=False).number == number
        some.fill()
        assert engine.forked == number
        some.done()
        assert engine.forked == number + 1
    some.close()
    assert engine.discarded == [4]
