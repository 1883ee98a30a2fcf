"""Sides measured alternately: A B, B A, A B … so that whatever else disturbs the machine hits both alike."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite

TIMEOUT = 180.0
"""Seconds that one figure may take."""

Say = Callable[[str], None]


@dataclass
class Measured:
    """The rounds of a metric, each with a figure of every side, ours first; and the reason when a side failed."""

    metric: Metric[Any]
    rounds: list[tuple[float, ...]] = field(default_factory=list[tuple[float, ...]])
    failure: str | None = None


class SideFailed(Exception):
    """A side could not be opened or measured; the metric is None when it was not even opened."""

    def __init__(self, side: Side, metric: Metric[Any] | None, error: Exception) -> None:
        super().__init__(f"{side.name} failed: {type(error).__name__}: {error}")
        self.metric = metric


async def measure(
    suites: Sequence[Suite[Any]],
    sides: Sequence[Side],
    *,
    only: Collection[str] = (),
    rounds: int | None = None,
    say: Say = lambda _: None,
) -> list[Measured]:
    """Measure suite by suite; what fails is reported in its place, and the rest is measured.

    Args:
        suites: what there is to measure.
        sides: ours, or ours and theirs.
        only: names of the metrics to measure; empty for all.
        rounds: how many rounds of each metric; None for each metric's own.
        say: gets the names of the metrics that are measured next.
    """
    found: list[Measured] = []
    for suite in suites:
        chosen = [Measured(metric) for metric in suite.metrics if not only or metric.name in only]
        if chosen:
            say(", ".join(each.metric.name for each in chosen))
            await _suite(suite, chosen, sides, rounds)
            found += chosen
    return found


async def _suite(suite: Suite[Any], chosen: Sequence[Measured], sides: Sequence[Side], rounds: int | None) -> None:
    most = max(rounds or each.metric.rounds for each in chosen)
    generations = min(suite.generations, most)
    for generation in range(generations):
        left = [each for each in chosen if each.failure is None]
        while left:
            try:
                await _generation(suite, left, sides, rounds, generation, generations)
            except SideFailed as failed:
                for each in list(left):
                    if failed.metric in (None, each.metric):
                        each.failure = str(failed)
                        left.remove(each)


async def _generation(
    suite: Suite[Any],
    left: list[Measured],
    sides: Sequence[Side],
    rounds: int | None,
    generation: int,
    generations: int,
) -> None:
    """Open the sides and measure what is left, which gets shorter with every metric that is done."""
    async with AsyncExitStack() as stack:
        opened: dict[str, Any] = {}
        for side in _order(sides, generation):
            try:
                opened[side.name] = await stack.enter_async_context(suite.open(side))
            except Exception as error:
                raise SideFailed(side, None, error) from error
        while left:
            each = left[0]
            share = _share(rounds or each.metric.rounds, generation, generations)
            for number in range(-each.metric.warm, share) if share else ():
                figures = {side.name: await _figure(each.metric, side, opened) for side in _order(sides, number)}
                if number >= 0:
                    each.rounds.append(tuple(figures[side.name] for side in sides))
            left.pop(0)


async def _figure(metric: Metric[Any], side: Side, opened: dict[str, Any]) -> float:
    try:
        async with asyncio.timeout(TIMEOUT):
            return await metric.measure(opened[side.name])
    except Exception as error:
        raise SideFailed(side, metric, error) from error


def _order(sides: Sequence[Side], number: int) -> Sequence[Side]:
    return sides if number % 2 == 0 else sides[::-1]


def _share(rounds: int, generation: int, generations: int) -> int:
    """How many of the rounds a generation has; the first ones have one more when they do not divide evenly."""
    return rounds // generations + (generation < rounds % generations)
