"""Ten megabytes of junk at every route of the route table: a typed refusal, in little memory, and no trace."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from server.app import create_app
from server.settings import ServerSettings
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
MEMORY = 150_000_000
"""Bytes by which the server may grow while all of this is sent: less than a fiftieth of what is sent at once."""


def requests() -> list[tuple[str, str]]:
    """Every method of every route, with a value for each parameter."""
    return [
        (method, re.sub(r"\{(\w+)(?::\w+)?\}", r"junk-\1", route.path))
        for route in create_app(ServerSettings()).routes
        if isinstance(route, Route)
        for method in sorted(route.methods or ())
    ]


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

    async def send(self, method: str, path: str, kind: str, *, sized: bool) -> httpx.Response | None:
        """Send junk; None when the server closed the connection before all was sent, as it may."""
        media, piece = TYPES[kind]

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(SIZE // len(piece)):
                yield piece

        headers = {"Content-Type": media} if media else {}
        if sized:
            headers["Content-Length"] = str(SIZE // len(piece) * len(piece))
        try:
            return await self.client.request(method, path, content=pieces(), headers=headers)
        except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            return None


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


def check(method: str, path: str, reply: httpx.Response | None) -> int:
    """Raise unless a reply is a typed one; returns its status."""
    if reply is None:
        return 0
    if path != "/readyz":  # it says so when a busy machine's database is slow
        assert reply.status_code < 500, (method, path, reply.text[:300])
    assert b"Traceback" not in reply.content
    if reply.status_code >= 400 and method != "HEAD" and path != "/readyz" and not path.startswith("/mcp"):
        error: dict[str, Any] = reply.json()["error"]
        assert error["code"], (method, path)
        assert error["message"], (method, path)
        assert error["request_id"] == reply.headers["X-Request-ID"]
    return reply.status_code


async def test_junk_is_refused_at_every_route_in_bounded_memory(junk: Junk) -> None:
    before = junk.memory()
    statuses: dict[tuple[str, str], set[int]] = {}
    for method, path in requests():
        kinds = [(kind, sized) for kind in TYPES for sized in (True, False)]
        if method in ("GET", "HEAD"):
            kinds = kinds[:2]  # a body that nobody reads, whatever it is
        replies = await asyncio.gather(*(junk.send(method, path, kind, sized=sized) for kind, sized in kinds))
        statuses[method, path] = {check(method, path, reply) for reply in replies}
    for (method, path), found in statuses.items():
        if method not in ("GET", "HEAD", "DELETE"):
            assert found <= {0, 202, 204, 303, 400, 401, 403, 404, 409, 411, 413, 415, 422, 428, 429, 501}, (
                path,
                found,
            )
            assert max(found) >= 400, (method, path, found)
    grown = junk.memory() - before
    assert grown < MEMORY, f"the server grew by {grown:,} bytes"
    assert (await junk.client.get("/healthz")).status_code == 200
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
    base = junk.client.base_url
    before = junk.memory()
    reader, writer = await asyncio.open_connection(base.host, base.port)
    answer = b""
    try:
        writer.write(sent)
        async with asyncio.timeout(30):
            answer = await reader.read()
    except ConnectionError:
        pass  # closed while the junk was on its way
    finally:
        writer.close()
    if answer:
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 408 ")), answer[:100]
        assert b'{"error":{"code":"' in answer
    assert junk.memory() - before < MEMORY
    assert (await junk.client.get("/healthz")).status_code == 200
