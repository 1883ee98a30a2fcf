"""The workflow of a turn, which DBOS starts again where its process has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from dbos import DBOS, SetWorkflowID

from runtime.durable.engine import PROTOCOL
from runtime.durable.records import workflow_id

T = TypeVar("T")

BACKSTOP: Final = 100
"""How often DBOS begins a workflow at most. A turn is given up long before, in words for its user."""


class Host(Protocol):
    """Takes turns in this process."""

    async def take(self, owner: str, turn: str, protocol: str, document: str) -> None:
        """Take a turn, or go on with it."""
        ...


_HOSTS: Final[list[Host]] = []


@dataclass(frozen=True)
class Recorded:
    """A turn's record in DBOS.

    Attributes:
        is_open: whether its workflow has not ended.
        protocol: the form of its steps.
        executor: the process that had it last.
        document: what it was begun with.
    """

    is_open: bool
    protocol: str
    executor: str
    document: str


@DBOS.workflow(name="turn", max_recovery_attempts=BACKSTOP)
async def take_turn(owner: str, turn: str, protocol: str, document: str) -> None:
    """Take a turn.

    Args:
        owner: whose it is.
        turn: its id.
        protocol: the form of its steps.
        document: what it is begun with, encrypted.
    """
    await _HOSTS[-1].take(owner, turn, protocol, document)


def serve_with(host: Host) -> None:
    """Let a host run the turns of this process."""
    _HOSTS[:] = [host]


async def start(owner: str, turn: str, document: str) -> None:
    """Take a new turn, to its end."""
    with SetWorkflowID(workflow_id(owner, turn)):
        await take_turn(owner, turn, PROTOCOL, document)


async def outside(work: Callable[[], Awaitable[T]]) -> T:
    """Do something that is not a step, inside a workflow or outside."""

    async def run() -> T:
        return await work()

    return await asyncio.create_task(run(), context=Context())


async def steps_of(owner: str, turn: str) -> list[str]:
    """What DBOS has recorded of the steps of a turn that was begun by an earlier version (protocol 1), in order."""
    found: list[Any] = await outside(lambda: DBOS.list_workflow_steps_async(workflow_id(owner, turn)))
    return [str(one["output"]) for one in found]


async def find(owner: str, turn: str) -> Recorded | None:
    """The record of a turn in DBOS, if there is one."""
    status = await outside(lambda: DBOS.get_workflow_status_async(workflow_id(owner, turn)))
    if status is None:
        return None
    given: tuple[Any, ...] = () if status.input is None else tuple(status.input["args"])
    is_open = status.status in {"PENDING", "ENQUEUED"}
    protocol, document = (str(given[2]), str(given[3])) if len(given) > 3 else ("", "")
    if status.app_version != PROTOCOL:
        protocol = str(status.app_version)
    return Recorded(is_open, protocol, status.executor_id or "", document)


async def give_back(owner: str, turn: str) -> None:
    """Let another process resume a turn whose process is gone."""
    await outside(lambda: DBOS.resume_workflow_async(workflow_id(owner, turn)))


async def give_up(owner: str, turn: str) -> None:
    """Let no process resume a turn."""
    await outside(lambda: DBOS.cancel_workflow_async(workflow_id(owner, turn)))


async def remove(ids: list[str]) -> None:
    """Delete what is recorded of turns that have ended."""
    if ids:
        await outside(lambda: DBOS.delete_workflows_async(ids))


async def ended_before(moment: str) -> list[str]:
    """The ids of the workflows of turns that were begun before a moment and have ended, some at a time."""
    found = await outside(
        lambda: DBOS.list_workflows_async(
            name="turn", status=["SUCCESS", "ERROR", "CANCELLED"], end_time=moment, limit=200, load_input=False
        )
    )
    return [one.workflow_id for one in found]
