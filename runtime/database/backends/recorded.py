"""What is recorded of the steps of durable turns, without SQLAlchemy, which only who stores it needs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypedDict


class StepsTogether(TypedDict):
    """Steps of a turn that are recorded together.

    Attributes:
        owner: whose turn it is.
        turn: its id.
        first: the number of the first of them.
        last: the number of the last of them.
        document: what came of each, encrypted.
    """

    owner: str
    turn: str
    first: int
    last: int
    document: str


@dataclass
class Effect:
    """The effect of one step of a turn on what is stored.

    Attributes:
        owner: whose turn it is.
        turn: its id.
        step: the number of the step.
        attempt: the number of this process among those that have taken the turn.
        before: steps that it follows from and that are not recorded yet, if there are any.
        is_noted: whether the transaction that is under way notes it.
        is_stored: whether one that did has ended well.
    """

    owner: str
    turn: str
    step: int
    attempt: int
    before: Sequence[StepsTogether] = ()
    is_noted: bool = field(default=False, init=False)
    is_stored: bool = field(default=False, init=False)


EFFECT: ContextVar[Effect | None] = ContextVar("effect", default=None)
"""The step that is being done, if it has an effect on what is stored."""


@contextmanager
def stored_once(effect: Effect) -> Generator[None]:
    """Let what is stored in the block be the effect of a step."""
    token = EFFECT.set(effect)
    try:
        yield
    finally:
        EFFECT.reset(token)


@contextmanager
def transaction() -> Generator[None]:
    """Learn whether a transaction stores the effect of a step; an exception says that it does not."""
    effect = EFFECT.get()
    if effect is None:
        yield
        return
    effect.is_noted = False
    yield
    effect.is_stored = effect.is_stored or effect.is_noted
