"""A client that speaks MCP over standard input and output, connected to a server that speaks it over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

import httpx
from pydantic_core import from_json, to_json

from cli.errors import CommandError
from cli.mcp.lines import stdin_lines
from cli.remote.connection import Server
from cli.remote.failures import failures
from server.mcp.transports.headers import PERMISSION_HEADER

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
NO_SESSIONS: Final = "2026-07-28"
"""The first version of the protocol without sessions, in which every request says what it is in its headers."""

FAILED: Final = -32603
"""The JSON-RPC code of what failed on the way."""

_META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

Message = dict[str, Any]


class Bridge:
    """Passes messages on, each as it is.

    Args:
        server: the server, with its token.
        tools: which tools: `all`, `canvas` or `system`.
        allow: what the client's configuration allows.
    """

    def __init__(self, server: Server, tools: str, allow: list[str]) -> None:
        self._server = server
        self._path = "/mcp" if tools == "all" else f"/mcp/{tools}"
        self._headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if allow:
            self._headers[PERMISSION_HEADER] = ",".join(allow)
        self._session: str | None = None
        self._version = ""
        self._under_way: dict[str | int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Pass messages on until the input ends."""
        async with self._server.client() as client:
            try:
                async for line in stdin_lines():
                    await self._take(client, line)
                if self._tasks:  # what was asked before the input ended is answered
                    await asyncio.wait({*self._under_way.values()} or {asyncio.create_task(asyncio.sleep(0))})
            finally:
                for task in self._tasks:
                    task.cancel()
                if self._session is not None:
                    with suppress(httpx.HTTPError):
                        await client.delete(self._path, headers={**self._headers, SESSION: self._session}, timeout=5)

    async def _take(self, client: httpx.AsyncClient, line: bytes) -> None:
        """Pass one message of the client on."""
        try:
            found: object = from_json(line)
        except ValueError:
            return await self._write(_error(None, -32700, "This is not JSON."))
        if not isinstance(found, dict):
            return await self._write(_error(None, -32600, "This is not a JSON-RPC message."))
        message = cast("Message", found)
        method, name = message.get("method"), message.get("id")
        if method == "notifications/cancelled" and self._version >= NO_SESSIONS:
            cancelled = self._under_way.get(_params(message).get("requestId", ""))
            if cancelled is not None:
                cancelled.cancel()  # leaving the stream is how that version cancels
            return None
        if method == "initialize":
            self._session = None
            await self._send(client, message)
            if self._session is not None:
                self._start(self._listen(client))
            return None
        task = self._start(self._send(client, message))
        if method is not None and isinstance(name, str | int):
            self._under_way[name] = task
            task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return None

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _send(self, client: httpx.AsyncClient, message: Message) -> None:
        """Send one message, and write whatever comes back."""
        name = message.get("id") if "method" in message else None
        try:
            with failures(self._server.origin):
                request = client.build_request(
                    "POST", self._path, content=to_json(message), headers=self._headers_of(message)
                )
                request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}  # a run may be silent
                response = await client.send(request, stream=True)
                try:
                    await self._receive(response, message, name)
                finally:
                    await response.aclose()
        except CommandError as failure:
            if name is not None:
                await self._write(_error(name, FAILED, f"{failure.message} {failure.fix}".strip()))

    async def _receive(self, response: httpx.Response, message: Message, name: str | int | None) -> None:
        begins = message.get("method") == "initialize" and response.is_success
        if begins:
            self._session = response.headers.get(SESSION)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            async for data in _events(response):
                if begins:
                    self._version = str(_result(data).get("protocolVersion", ""))
                await self._write(data)
            return
        body = await response.aread()
        if begins:
            self._version = str(_result(body).get("protocolVersion", ""))
        if not body:
            return
        document: object = from_json(body) if "json" in response.headers.get("content-type", "") else None
        if isinstance(document, dict) and "jsonrpc" in document:
            await self._write(cast("Message", document))
        elif name is not None:
            refusal = cast("CommandError", self._server.refusal(response))
            await self._write(_error(name, FAILED, f"{refusal.message} {refusal.fix}".strip()))

    async def _listen(self, client: httpx.AsyncClient) -> None:
        """Write what the server tells of its own accord."""
        headers = {**self._headers, SESSION: self._session or "", VERSION: self._version}
        with suppress(httpx.HTTPError):
            async with client.stream(
                "GET", self._path, headers=headers, timeout=httpx.Timeout(30, read=None)
            ) as response:
                if response.is_success:
                    async for data in _events(response):
                        await self._write(data)

    def _headers_of(self, message: Message) -> dict[str, str]:
        """The headers of a message: its version, its session, and what the newer versions say in them."""
        headers = dict(self._headers)
        meta: object = _params(message).get("_meta")
        version = cast("Message", meta).get(_META_VERSION) if isinstance(meta, dict) else None
        if isinstance(version, str):
            self._version = version
            headers["Mcp-Method"] = str(message.get("method", ""))
            named = _params(message).get("name", _params(message).get("uri"))
            if isinstance(named, str) and named.isascii():
                headers["Mcp-Name"] = named
        if self._version and message.get("method") != "initialize":
            headers[VERSION] = self._version
        if self._session is not None:
            headers[SESSION] = self._session
        return headers

    async def _write(self, message: Message | bytes) -> None:
        line = message if isinstance(message, bytes) else to_json(message)
        async with self._writing:
            sys.stdout.buffer.write(line.replace(b"\n", b" ") + b"\n")
            sys.stdout.buffer.flush()


async def _events(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The data of each event of a stream."""
    data: list[str] = []
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text:
                yield text.encode()


def _params(message: Message) -> Mapping[str, Any]:
    params: object = message.get("params")
    return cast("Message", params) if isinstance(params, dict) else {}


def _result(body: bytes) -> Mapping[str, Any]:
    document: object = from_json(body) if body else None
    found: object = cast("Message", document).get("result") if isinstance(document, dict) else None
    return cast("Message", found) if isinstance(found, dict) else {}


def _error(name: str | int | None, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}
