"""What is measured: metrics, in suites that share a server or a process."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from benchmarks.against.side import Side

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[T]):
    """One figure.

    Attributes:
        name: what it is called in the table and for `--only`.
        unit: of its figures.
        measure: gives a figure above zero of an opened side.
        rounds: how often each side is measured, over all generations of its suite.
        warm: rounds at the start of each generation that do not count.
        margin: how far the median ratio of two processes of the same code may be from 1, as a share.
        higher_is_better: whether the figures are rates.
        target: what the figure should be at most, for a rate at least.
        original: the figure of Langflow's own assistant, measured on another machine.
    """

    name: str
    unit: str
    measure: Callable[[T], Awaitable[float]]
    rounds: int
    warm: int = 1
    margin: float = 0.03
    higher_is_better: bool = False
    target: float | None = None
    original: float | None = None


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[T]):
    """Metrics of the same thing, which is opened once for each side and kept while they alternate.

    Attributes:
        open: opens a side: starts its server, its worker or nothing.
        metrics: what is measured, in this order.
        generations: how often all is opened afresh, because two processes of the same code differ in pace for as long
            as they live.
    """

    open: Callable[[Side], AbstractAsyncContextManager[T]]
    metrics: tuple[Metric[T], ...]
    generations: int = 1
