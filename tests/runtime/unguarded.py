"""Runs code that the guard would refuse, to see what becomes of it."""

import uuid
from collections.abc import Callable
from typing import Any

from flows.document import JsonObject
from runtime.options import RunOptions
from runtime.results import RunResult
from runtime.run_events import RunEvent
from runtime.runner import Runner
from runtime.sessions.memory import RunMessages


async def run_unguarded(
    runner: Runner,
    data: JsonObject,
    text: str | None = None,
    *,
    run_id: str | None = None,
    gateway: str | None = None,
    on_started: Callable[[int], None] | None = None,
    messages: RunMessages | None = None,
    **options: Any,
) -> RunResult:
    """Run nodes and edges without admission; `options` are fields of `RunOptions`."""
    given = RunOptions(**options)
    async with runner._egress.attach(given) as egress:
        result = await runner._exchange(
            data,
            text,
            given,
            run_id=run_id or uuid.uuid4().hex,
            gateway=gateway,
            egress=egress,
            on_started=on_started,
            messages=messages,
        )
        return egress.account_for(result)


async def unguarded_events(runner: Runner, data: JsonObject) -> tuple[list[RunEvent], RunResult]:
    """The events of nodes and edges that were never admitted, and their result."""
    events: list[RunEvent] = []
    return events, await run_unguarded(runner, data, timeout=30, on_event=events.append)
