"""What was recorded of a turn's steps by the processes that had it before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from flows.json_values import Json, JsonObject, as_list, as_object
from runtime.keychain.documents import DocumentSealing
from server.durable.packing import unpacked
from server.store.step_rows import SqlSteps


@dataclass(frozen=True)
class History:
    """The recorded steps of a turn.

    Attributes:
        steps: in order, without a gap: what each came to, and what was sent up to its end.
        was_cut: whether a step after them was cancelled, after which the turn has only ended.
    """

    steps: Sequence[JsonObject] = ()
    was_cut: bool = False


async def history_of(
    steps: SqlSteps, documents: DocumentSealing, owner: str, turn: str, *, by_dbos: bool = False
) -> History:
    """What was recorded of a turn's steps.

    Args:
        steps: where they are recorded.
        documents: decrypts them.
        owner: whose turn it is.
        turn: its id.
        by_dbos: whether it may have been begun by an earlier version, with which DBOS recorded each step.
    """
    rows, read = await steps.read(owner, turn), _together
    if not rows and by_dbos:
        from server.durable.workflow import steps_of

        rows, read = await steps_of(owner, turn), _alone
    found = await asyncio.to_thread(lambda: [step for row in rows for step in read(unpacked(row, documents))])
    if read is _alone:
        return History(found)
    whole = [step for at, step in enumerate(found, 1) if step.get("number") == at]
    return History(whole, was_cut=len(whole) < len(found))


def _together(document: Json) -> list[JsonObject]:
    return [as_object(step) for step in as_list(document)]


def _alone(document: Json) -> list[JsonObject]:
    return [as_object(document)]
