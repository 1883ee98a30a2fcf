"""What is recorded of the steps of a durable turn, without SQLAlchemy, which only who stores it needs."""

from __future__ import annotations

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
