"""The official Python client, connected to the server in this process or over HTTP."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from agent.assistant import Assistant
from runtime.accounts.user import LOCAL, User
from server.access.caller import Caller
from server.mcp.consent.baselines import Baselines
from server.mcp.consent.permissions import standing_mandate
from server.mcp.consent.waiting import WaitingCalls
from server.mcp.protocol import McpServer
from server.mcp.subscriptions import Subscriptions
from server.mcp.tools.tool import Group
from server.mcp.transports.stdio import local_state
from server.mcp.visitor import Visitor
from server.settings import ServerSettings
from tests.server.live import Live

WITH_SESSIONS, WITHOUT = "legacy", "auto"
"""The versions of the protocol: `initialize` and a session, or every request for itself."""


@dataclass
class Talk:
    """A client, and what it was asked.

    Attributes:
        client: the client.
        questions: what its user was asked.
        progress: what it was told on the way.
    """

    client: Client
    questions: list[str] = field(default_factory=list[str])
    progress: list[str] = field(default_factory=list[str])

    async def call(self, name: str, /, **arguments: Any) -> types.CallToolResult:
        """What a tool gives."""

        async def told(_: float, __: float | None, message: str | None) -> None:
            self.progress.append(message or "")

        return await self.client.call_tool(name, arguments, progress_callback=told)

    async def give(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool gives that succeeds."""
        result = await self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        return result.structured_content

    async def refuse(self, name: str, /, **arguments: Any) -> str:
        """What a tool says that does not do what was asked."""
        result = await self.call(name, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """The text of a result."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


Answers = Callable[[str], bool | str] | bool | str | None
"""What the client's user says to questions: no, yes, or yes with another text; None for a client that cannot ask."""


def _callback(talk: list[Talk], answers: Answers) -> Any:
    async def answer(_: Any, params: Any) -> types.ElicitResult:
        talk[0].questions.append(params.message)
        agreed = answers(params.message) if callable(answers) else answers
        text = {"text": agreed} if isinstance(agreed, str) else {}
        return types.ElicitResult(action="accept", content={"approve": bool(agreed), **text})

    return None if answers is None else answer


@asynccontextmanager
async def talking(
    assistant: Assistant,
    mode: str = WITH_SESSIONS,
    *,
    answers: Answers = None,
    allow: tuple[str, ...] = (),
    group: Group | None = None,
    user: User = LOCAL,
    settings: ServerSettings | None = None,
    handler: Any = None,
) -> AsyncGenerator[Talk]:
    """A client of a server in this process.

    Args:
        assistant: runs flows, and has the stores.
        mode: the version of the protocol.
        answers: what the client's user says.
        allow: what the client's configuration allows.
        group: which of the two servers.
        user: whose token the client has.
        settings: the limits.
        handler: gets what the server tells of its own accord.
    """
    state = local_state(assistant, settings or ServerSettings())
    visitor = Visitor(Caller(state, user), "" if mode == WITHOUT else "here", standing_mandate(allow))
    subscriptions = Subscriptions(state.flow_changes)
    baselines, waiting = Baselines(assistant.database), WaitingCalls(assistant.database)
    server = McpServer(group, lambda _: visitor, subscriptions, baselines, waiting).server
    found: list[Talk] = []
    try:
        async with Client(
            server, mode=mode, elicitation_callback=_callback(found, answers), message_handler=handler
        ) as client:
            found.append(Talk(client))
            yield found[0]
    finally:
        subscriptions.close()
        await state.flow_changes.aclose()
        await assistant.aclose()


@asynccontextmanager
async def talking_http(
    live: Live,
    mode: str = WITH_SESSIONS,
    *,
    answers: Answers = None,
    path: str = "/mcp",
    headers: Mapping[str, str] | None = None,
) -> AsyncGenerator[Talk]:
    """A client of a running server, with its token unless other headers are given."""
    found: list[Talk] = []
    sent = {"Authorization": live.client.headers["Authorization"], **(headers or {})}
    async with (
        create_mcp_http_client(headers=sent) as http,
        Client(
            streamable_http_client(f"{str(live.client.base_url).rstrip('/')}{path}", http_client=http),
            mode=mode,
            elicitation_callback=_callback(found, answers),
        ) as client,
    ):
        found.append(Talk(client))
        yield found[0]
