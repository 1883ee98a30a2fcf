"""`wirewright ask --server`: one turn on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from uuid import uuid4

from agent.contract.endings import cancelled, turn_result
from agent.contract.events import CancelledEvent, CompleteEvent, ErrorEvent, Event, RewoundEvent
from agent.contract.requests import AssistRequest
from agent.turn.record import TurnRecord
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from cli.errors import BadUsage
from cli.remote.canvas import RemoteCanvas
from cli.remote.turns import RemoteTurn
from flows.document import Flow

if TYPE_CHECKING:
    from cli.output.turn import Readable
    from cli.remote.connection import Server

REWOUND: Final = (
    "The turn goes on in another process, from its last finished step. What follows may be shown twice, and what that "
    "step began, such as a run or a request to a provider, may be done twice."
)
"""What is said when a turn was interrupted at the server."""

_STORED: Final = "The changes are stored as version {version} of {name}."


class Shows(Protocol):
    """Shows the events of a turn as they were received."""

    def show(self, event: Event, canvas: RemoteCanvas, result: TurnResult | None, /) -> None:
        """Show an event; with the last one comes the result, if there is one."""
        ...

    def cancelled(self, record: TurnRecord) -> None:
        """Show that the turn was stopped here."""
        ...

    def close(self) -> None:
        """Restore the terminal."""
        ...


class JsonLines:
    """Each event a line of JSON on standard output."""

    def show(self, event: Event, _: RemoteCanvas, __: TurnResult | None, /) -> None:
        """Print the event."""
        from cli.output.streams import print_json

        print_json(event.model_dump())

    def cancelled(self, record: TurnRecord) -> None:
        """Print the last event of a stopped turn."""
        from cli.output.streams import print_json

        print_json(cancelled(record).model_dump(mode="json"))

    def close(self) -> None:
        """Nothing to restore."""


class Words:
    """Text for a person.

    Args:
        rendering: shows a turn of this machine.
        name: the stored flow that the turn works on, if any.
        write: writes the resulting flow to a file, and says where it is; None when it is written nowhere.
    """

    def __init__(self, rendering: Readable, name: str = "", write: Callable[[TurnResult], str] | None = None) -> None:
        self._rendering = rendering
        self._name = name
        self._write = write

    def show(self, event: Event, canvas: RemoteCanvas, result: TurnResult | None, /) -> None:
        """Show what a person is shown of it."""
        for one in canvas.shown(event):
            self._rendering.show(one)
        if isinstance(event, RewoundEvent):
            self._rendering.begin_again(REWOUND)
        elif isinstance(event, CancelledEvent):
            self._rendering.cancelled(event.record or TurnRecord(), event.message or "Cancelled.")
        elif result is not None:
            places = [] if self._write is None else [self._write(result)]
            if self._name and isinstance(event, CompleteEvent) and event.data.saved and result.actions:
                places.append(_STORED.format(version=event.data.version, name=self._name))
            if place := " ".join(filter(None, places)):
                self._rendering.place = place
            self._rendering.show(TurnEnded(result=result))

    def cancelled(self, record: TurnRecord) -> None:
        """Note it, and what was done."""
        self._rendering.cancelled(record)

    def close(self) -> None:
        """Stop the spinner."""
        self._rendering.close()


class Start:
    """What a turn works on: a file of this machine, or a flow that the server stores.

    Args:
        server: the server.
        flow: the file, or the id or name of the stored flow.

    Attributes:
        canvas: the flow, if any.
        flow_id: the id of the stored flow, if it is one.
        name: its name.
    """

    def __init__(self, server: Server, flow: str | None) -> None:
        from cli.flow.source import flow_of
        from cli.input.texts import read

        self.canvas: Flow | None = None
        self.flow_id: str | None = None
        self.name = ""
        if flow is None:
            return
        if flow == "-" or Path(flow).exists():
            source = read(flow)
            if not source.is_json:
                fix = f"wirewright flow build {flow} --out FILE.json makes a flow of it."
                raise BadUsage("not_remote", "A server is sent Langflow JSON, not spec text.", fix=fix, where="--flow")
            self.canvas = flow_of(source)
            return
        from cli.remote.stores.flows import RemoteFlows

        flows = RemoteFlows(server)
        whole = flows.get(flows.find(flow).id)
        self.canvas, self.flow_id, self.name = Flow.from_json(whole.flow), whole.id, whole.name


async def take(server: Server, request: TurnRequest, start: Start, shown: Shows) -> tuple[TurnResult | None, Flow]:
    """Take a turn on a server and show it; returns its result, if it came to one, and the canvas.

    Args:
        server: the server.
        request: asks for it.
        start: what it works on.
        shown: shows it.
    """
    asked = AssistRequest.of(request).model_copy(update={"turn_id": uuid4().hex, "resumable": True})
    if start.flow_id is not None:
        asked = asked.model_copy(update={"flow": None, "flow_id": start.flow_id})
    turn, canvas = RemoteTurn(server, asked), RemoteCanvas(request.flow or Flow.empty())
    result: TurnResult | None = None
    try:
        async with aclosing(turn.events()) as events:
            async for event in events:
                if isinstance(event, CompleteEvent | ErrorEvent):
                    result = turn_result(request, event)
                    canvas.flow = canvas.flow if isinstance(event, ErrorEvent) else result.after
                shown.show(event, canvas, result)
    except asyncio.CancelledError:
        shown.cancelled(turn.record)
        raise
    finally:
        shown.close()
    return result, canvas.flow
