"""What is new of turns that are followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from server.store.turns import Lines, StoredTurn

TurnKey: TypeAlias = tuple[str, str]
"""The owner and the id of a turn."""


@dataclass(frozen=True)
class News:
    """What is new of a turn that is followed.

    Attributes:
        turn: how it stands; None when it is not known.
        lines: its events after those that are known.
        is_forgotten: whether it waits, and nobody will take it.
    """

    turn: StoredTurn | None
    lines: Lines = ()
    is_forgotten: bool = False
