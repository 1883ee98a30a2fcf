"""What is new of turns that are followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from server.store.turns import Lines, StoredTurn

Place: TypeAlias = tuple[str, str, int]
"""Where someone is who follows a turn: its owner, its id, and the number of the last event that is known."""


@dataclass(frozen=True)
class News:
    """What is new of a turn that is followed.

    Attributes:
        turn: how it stands; None when it is not known.
        lines: its next events after those that are known.
        has_more: whether more are stored than these.
        is_forgotten: whether it waits, and nobody will take it.
        waits: whether it waits for a worker.
    """

    turn: StoredTurn | None
    lines: Lines = ()
    has_more: bool = False
    is_forgotten: bool = False
    waits: bool = False
