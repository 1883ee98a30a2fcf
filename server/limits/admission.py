"""Admitting turns and runs: within a day's budget, and no more at once than may go on."""

from __future__ import annotations

from dataclasses import dataclass

from server.access.caller import Caller
from server.errors import ApiError
from server.limits.budget import tokens_left
from server.limits.slots import Slot


@dataclass(frozen=True)
class Admission:
    """A turn that may begin.

    Attributes:
        slot: its place.
        tokens: how many tokens it may use.
    """

    slot: Slot
    tokens: int


async def admit_turn(caller: Caller) -> Admission:
    """Admit a turn.

    Raises:
        ApiError: 429, the user's tokens or dollars of today are used, or too many turns go on.
    """
    left = await tokens_left(caller.assistant.usage_log, caller.settings, caller.id)
    budget = caller.settings.turn_tokens(caller.user.name)
    return Admission(caller.state.turn_slots.take(caller.id), budget if left is None else min(budget, left))


async def admit_run(caller: Caller) -> Slot:
    """Admit a run.

    Raises:
        ApiError: 429, the user's tokens or dollars of today are used, or too many runs go on.
    """
    await tokens_left(caller.assistant.usage_log, caller.settings, caller.id)
    return caller.state.run_slots.take(caller.id)


def check_message(caller: Caller, message: str) -> None:
    """Refuse a message that is too long.

    Raises:
        ApiError: 413, naming the limit.
    """
    limit = caller.settings.message_limit
    if len(message) > limit:
        text = f"The message has more than {limit:,} characters."
        fix = "Write a shorter message, and put long text into a file."
        raise ApiError(413, "message_too_long", text, fix, "$.input_value")
