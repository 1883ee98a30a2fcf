"""`wirewright flow run --server`: one run of a flow that a server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.contract.events import CancelledEvent, FileWrittenEvent
from agent.contract.requests import RunRequest
from agent.contract.runs import RUN_STREAM_EVENTS, RunComplete
from cli.errors import CommandError
from cli.flow.source import LoadedFlow
from cli.remote.connection import Server, segment
from cli.remote.failures import failures
from cli.remote.stores.flows import FLOWS, RemoteFlows
from flows.document import Flow

if TYPE_CHECKING:
    from runtime.options import OnEvent
    from runtime.results import RunResult

SILENCE_SECONDS = 60.0
"""How long a stream may be silent; a sign of life comes every fifteen seconds."""


def stored_flow(server: Server, name: str) -> tuple[str, LoadedFlow]:
    """The id of a stored flow, and the flow.

    Args:
        server: the server.
        name: its id or name.
    """
    flows = RemoteFlows(server)
    whole = flows.get(flows.find(name).id)
    return whole.id, LoadedFlow(flow=Flow.from_json(whole.flow))


async def run_stored(server: Server, flow_id: str, request: RunRequest, on_event: OnEvent | None) -> RunResult:
    """Run a stored flow once. Leaving before its end, as by Ctrl-C, ends the run as well.

    Args:
        server: the server.
        flow_id: the flow.
        request: asks for the run, as a stream.
        on_event: is told what happens.

    Raises:
        CommandError: the server refuses it, somebody else ended it, or the connection was lost.
    """
    body = request.model_dump(mode="json", exclude_none=True)
    place = f"{FLOWS}/{segment(flow_id)}/run"
    with failures(server.origin):
        async with (
            server.client() as client,
            client.stream("POST", place, json=body, timeout=SILENCE_SECONDS) as response,
        ):
            if response.is_error or response.is_redirect:
                await response.aread()
                raise server.refusal(response)
            async for line in response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                event = RUN_STREAM_EVENTS.validate_json(line.removeprefix("data:"))
                match event:
                    case RunComplete(data=result):
                        return result
                    case CancelledEvent():
                        fix = f"wirewright runs list --server {server.origin} shows it."
                        raise CommandError("run_cancelled", event.message, fix=fix)
                    case FileWrittenEvent():
                        pass  # the result lists it
                    case _:
                        if on_event is not None:
                            on_event(event)
    fix = f"wirewright runs list --server {server.origin} shows how it stands."
    raise CommandError("connection_lost", "The connection was lost before the run ended.", fix=fix, where="--server")
