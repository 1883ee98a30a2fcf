"""Ten megabytes of junk at every route of the route table: a typed refusal, in little memory, and no trace."""

import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import h11
import httpx
import pytest
from starlette.routing import Route

from server.app import create_app
from server.settings import ServerSettings
from tests.server.access.test_users import METHODS
from tests.server.openapi.description import described
from tests.server.test_serve import program, signed_in

pytestmark = pytest.mark.anyio
SIZE = 10_000_000
PIECE = Random(7).randbytes(100_000)  # noqa: S311  (the same each time)
JSON_PIECE = b'{"input_value": [' + b"[" * 99_000
TYPES = {
    "json": ("application/json", PIECE),
    "nested": ("application/json", JSON_PIECE),
    "form": ("multipart/form-data; boundary=xxxx", PIECE),
    "unnamed": ("", PIECE),
}
SECONDS = 60
"""How long an answer may take on a busy machine."""
UNREAD = ("/duplicate", "/cancel", "/sign-in")
"""How routes end that read no body."""
MEMORY = 150_000_000
"""Bytes by which the server may grow while all of this is sent: less than a fiftieth of what is sent at once."""


def requests() -> list[tuple[str, Route]]:
    """Every method of every route."""
    return [
        (method, route)
        for route in create_app(ServerSettings()).routes
        if isinstance(route, Route)
        for method in sorted(route.methods or METHODS)
    ]


def address(route: Route) -> str:
    """An address of a route, with a value for each parameter."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", r"junk-\1", route.path)


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error in it."""
        found: dict[str, Any] = json.loads(self.content)["error"]
        return found


class Junk:
    """A server that is a process of its own, and what it wrote."""

    def __init__(self, client: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
        self.client, self.process, self.log = client, process, bytearray()

    def memory(self) -> int:
        """The most memory that the server has taken so far, in bytes; 0 where the system does not say."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return 0
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        return 0 if found is None else int(found[1]) * 1_000

    async def send(self, method: str, path: str, kind: str, *, sized: bool) -> Answer:
        """Send junk over a connection of its own, and read the answer while it is sent, as clients of HTTP/1.1 do.

        A server that does not want the rest may close the connection, but it answers first: what it answered is read
        although writing fails.
        """
        media, piece = TYPES[kind]
        base, loop = self.client.base_url, asyncio.get_running_loop()
        http = h11.Connection(our_role=h11.CLIENT)
        headers = [("Host", f"{base.host}:{base.port}"), ("Authorization", self.client.headers["Authorization"])]
        headers += [("Content-Type", media)] if media else []
        count = SIZE // len(piece)
        headers += [("Content-Length", str(count * len(piece)))] if sized else [("Transfer-Encoding", "chunked")]
        with socket.socket() as connection:
            connection.setblocking(False)
            await loop.sock_connect(connection, (base.host, base.port))

            async def write() -> None:
                with suppress(ConnectionError):
                    await loop.sock_sendall(
                        connection, http.send(h11.Request(method=method, target=path, headers=headers))
                    )
                    for _ in range(count):
                        await loop.sock_sendall(connection, http.send(h11.Data(data=piece)))
                    await loop.sock_sendall(connection, http.send(h11.EndOfMessage()))

            writing = asyncio.create_task(write())
            try:
                async with asyncio.timeout(SECONDS):
                    return await _answer(connection, http)
            finally:
                writing.cancel()
                await asyncio.wait({writing})


async def _answer(connection: socket.socket, http: h11.Connection) -> Answer:
    """Read one whole answer.

    Raises:
        ConnectionError: the connection ended before it.
    """
    head: h11.Response | None = None
    content = bytearray()
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            data = await asyncio.get_running_loop().sock_recv(connection, 65_536)
            if not data and head is None:
                raise ConnectionError("closed without an answer")
            http.receive_data(data)
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            content += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode().lower(): value.decode() for name, value in head.headers}
            return Answer(head.status_code, headers, bytes(content))


@pytest.fixture(scope="module")
async def junk(python_command: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Junk]:
    os.environ["WIREWRIGHT_DATA"] = str(tmp_path_factory.mktemp("data"))
    async with program(python_command, "-m", "tests.server.hanging") as (process, base), signed_in(base, 60) as client:
        made = Junk(client, process)
        assert process.stdout is not None
        reading = asyncio.create_task(_read(process.stdout, made.log))
        await client.get("/readyz")
        yield made
        reading.cancel()


async def _read(output: asyncio.StreamReader, log: bytearray) -> None:
    while data := await output.read(65_536):
        log += data


def check(method: str, path: str, reply: Answer | httpx.Response) -> int:
    """Raise unless a reply is a typed one; returns its status."""
    status = reply.status if isinstance(reply, Answer) else reply.status_code
    assert b"Traceback" not in reply.content
    if status >= 400 and method != "HEAD" and path != "/readyz" and not path.startswith("/mcp"):
        error: dict[str, Any] = json.loads(reply.content)["error"]
        assert error["code"], (method, path)
        assert error["message"], (method, path)
        assert error["request_id"] == reply.headers["x-request-id"]
    if path == "/readyz" and status == 503:  # as it is described, and only for a database that is slow just now
        assert json.loads(reply.content)["database"] == "slow"
    else:
        assert status < 500, (method, path, reply.content[:300])
    return status


async def test_junk_is_refused_at_every_route_in_bounded_memory_and_the_next_request_is_served(junk: Junk) -> None:
    before = junk.memory()
    wrong: dict[tuple[str, str], object] = {}
    for method, route in requests():
        path = address(route)
        kinds = [(kind, sized) for kind in TYPES for sized in (True, False)]
        if method in ("GET", "HEAD"):
            kinds = kinds[:2]  # a body that nobody reads, whatever it is
        try:
            replies = await asyncio.gather(*(junk.send(method, path, kind, sized=sized) for kind, sized in kinds))
        except ConnectionError as unanswered:
            wrong[method, path] = unanswered
            continue
        found = {check(method, path, reply) for reply in replies}
        reads = method in ("POST", "PUT", "PATCH") and not path.endswith(UNREAD)
        if found - described(method, route) or (reads and min(found) < 400):
            wrong[method, path] = found
        async with httpx.AsyncClient(base_url=junk.client.base_url, trust_env=False, timeout=SECONDS) as another:
            assert (await another.get("/healthz")).status_code == 200, (method, path)
    assert wrong == {}
    grown = junk.memory() - before
    assert grown < MEMORY, f"the server grew by {grown:,} bytes"
    assert b"Traceback" not in junk.log
    assert b'"level": "error"' not in junk.log
    assert len(junk.log) < 1_000_000, "a request is a line or two of the log"


@pytest.mark.parametrize("method", ["FOO", "GET", "POST"])
async def test_an_address_of_junk_is_refused(junk: Junk, method: str) -> None:
    for path in ("/" + "x" * 50_000, "/api/v1/flows?" + "q=%00&" * 5_000, "/api/v1/flows/%FF%FE", "/../../etc/passwd"):
        reply = await junk.client.request(method, path)
        assert check(method, path, reply) in {200, 400, 401, 403, 404, 405, 415, 422}
    assert b"Traceback" not in junk.log


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Junk: " + b"x" * SIZE + b"\r\n\r\n",
        b"GET /" + b"x" * SIZE + b" HTTP/1.1\r\n\r\n",
        PIECE * 100,
        b"\r\n" * 1_000_000,
    ],
    ids=["header", "address", "bytes", "empty lines"],
)
async def test_what_is_not_http_is_told_so_and_disconnected(junk: Junk, sent: bytes) -> None:
    base, loop = junk.client.base_url, asyncio.get_running_loop()
    before = junk.memory()
    answer = bytearray()
    with socket.socket() as connection:
        connection.setblocking(False)
        await loop.sock_connect(connection, (base.host, base.port))

        async def write() -> None:
            with suppress(ConnectionError):
                await loop.sock_sendall(connection, sent)

        writing = asyncio.create_task(write())
        async with asyncio.timeout(SECONDS):
            with suppress(ConnectionError):  # when it has answered, it may reset the connection
                while data := await loop.sock_recv(connection, 65_536):
                    answer += data
        writing.cancel()
        await asyncio.wait({writing})
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 408 ")), bytes(answer[:100])
    assert b'{"error":{"code":"' in answer
    assert junk.memory() - before < MEMORY
    assert (await junk.client.get("/healthz")).status_code == 200
