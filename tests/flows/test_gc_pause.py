"""What stays is left out of later garbage collections, and what comes afterwards is not."""

from __future__ import annotations

import gc
from collections.abc import Generator
from weakref import ref

import pytest

from flows.gc_pause import SurvivorsFrozen


class Circle:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def thawed() -> Generator[None]:
    """Every object is collected again after the test."""
    try:
        yield
    finally:
        gc.unfreeze()


def test_what_survives_a_full_collection_is_left_out_of_later_ones():
    gc.collect()
    gc.unfreeze()
    with SurvivorsFrozen():
        gc.collect(1)
        assert gc.get_freeze_count() == 0
        gc.collect()
        frozen = gc.get_freeze_count()
        assert frozen > len(gc.get_objects())


def test_circles_that_come_afterwards_are_collected():
    with SurvivorsFrozen():
        gc.collect()
        gone = ref(Circle())
        assert gone() is not None
        gc.collect()
        assert gone() is None


def test_it_is_done_a_few_times_and_not_for_ever():
    callbacks = list(gc.callbacks)
    with SurvivorsFrozen(times=2):
        gc.collect()
        gc.collect()
        frozen, new = gc.get_freeze_count(), [Circle() for _ in range(100)]
        gc.collect()
        assert gc.get_freeze_count() <= frozen
        assert any(kept is new[0] for kept in gc.get_objects())
    assert gc.callbacks == callbacks


def test_it_ends_with_the_block():
    callbacks = list(gc.callbacks)
    with pytest.raises(RuntimeError), SurvivorsFrozen():
        raise RuntimeError
    assert gc.callbacks == callbacks
