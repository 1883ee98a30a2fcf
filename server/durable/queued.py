"""The job of a turn that waits for a worker."""

from __future__ import annotations

from typing import Final

from agent.contract.model import Received
from runtime.jobs.job import NewJob
from server.durable.document import TurnDocument

TURN_JOB: Final = "turn."
"""What the id of a turn's job begins with; the turn's follows."""

MORE_SECONDS: Final = 60.0
"""How long the job of a turn lasts beyond the turn at most, which is ended with a word to its user."""


class TurnGiven(Received):
    """What a job of the kind `turn` works on.

    Attributes:
        turn: the turn as it was asked for.
    """

    turn: TurnDocument


def turn_job(document: TurnDocument, seconds: float) -> NewJob:
    """The job of a turn.

    Args:
        document: the turn as it was asked for.
        seconds: how long it may take.
    """
    request = document.request
    return NewJob(
        id=f"{TURN_JOB}{request.turn_id}",
        owner=request.user,
        kind="turn",
        queue="turns",
        flow=request.flow_id or "",
        seconds=seconds + MORE_SECONDS,
        given=TurnGiven(turn=document).model_dump(mode="json", exclude_none=True),
    )
