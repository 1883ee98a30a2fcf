"""Runs of the real AG-UI clients against a server of the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.conformance.clients import Clients
from tests.server.live import Live


@dataclass(frozen=True)
class Run:
    """What a client made of one run.

    Attributes:
        error: why `runAgent` was rejected; None if it was not.
        events: the events, as the client's subscribers got them.
        messages: the messages that the run added to the client's, with those that began it.
        state: the client's state.
        pending: the interrupts that wait.
        sent: how many characters the client would send back.
        count: how many messages the client has.
    """

    error: str | None
    events: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    state: Any
    pending: list[dict[str, Any]]
    sent: int
    count: int

    @property
    def types(self) -> list[str]:
        """The types of the events."""
        return [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        """What the assistant said."""
        said = [one["content"] for one in self.messages if one["role"] == "assistant" and one.get("content")]
        return "\n".join(said)

    def custom(self, name: str) -> list[Any]:
        """The values of custom events of a name."""
        return [one["value"] for one in self.events if one["type"] == "CUSTOM" and one["name"] == name]

    @property
    def last(self) -> dict[str, Any]:
        """The last event."""
        return self.events[-1]


def environment(live: Live, **more: str) -> dict[str, str]:
    """What a script needs to reach a server."""
    token = live.client.headers["Authorization"].removeprefix("Bearer ")
    return {"SERVER": str(live.client.base_url).rstrip("/"), "TOKEN": token, **more}


async def drive(
    clients: Clients, live: Live, *steps: dict[str, Any], thread: str = "thread", state: Any = None, client: str = ""
) -> list[Run]:
    """What a client makes of runs, one after the other, in one thread.

    Args:
        clients: the installed clients.
        live: the server.
        steps: the runs, as `drive.mjs` reads them.
        thread: the thread's id.
        state: the client's state at first.
        client: `old` for 0.0.59.
    """
    asked = json.dumps({"steps": steps, "threadId": thread, "state": state})
    lines = await clients.run("agui/drive.mjs", asked, **environment(live, CLIENT=client))
    assert not [line for line in lines if "uncaught" in line], lines
    return [Run(**line) for line in lines]
