"""One reader of bodies: routes do not read bodies themselves, and an upload is bounded like everything else."""

import ast
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

ROOT = Path(__file__).parents[3]
SERVERS = ("server", "runtime/gateway", "runtime/web")
READERS = {"body", "json", "form", "stream", "receive"}
ALLOWED = {
    ("runtime/web/body.py", "stream"),
    *((file, "receive") for file in ("server/requests/disconnect.py", "runtime/gateway/app.py")),  # disconnections
}


def test_bodies_are_read_in_one_place() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), node.attr)
        for folder in SERVERS
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in READERS
        and isinstance(node.value, ast.Name)
        and node.value.id == "request"
    }
    assert found == ALLOWED


@pytest.mark.anyio
@pytest.mark.parametrize("named", [True, False], ids=["a file", "another part"])
async def test_an_upload_without_an_end_is_refused_at_the_limit(
    named: bool, catalogue: Catalogue, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.requests.multipart.FORM_BYTES", 100_000)
    settings = ServerSettings(files_total_limit=200_000)
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        name = '; filename="a.txt"' if named else ""
        yield f'--x\r\nContent-Disposition: form-data; name="file"{name}\r\n\r\n'.encode()
        for _ in range(500):
            sent += 10_000
            yield b"y" * 10_000

    async with serving(assistant(catalogue), settings) as live:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        try:
            reply = await live.client.post("/api/v1/files", content=endless(), headers=headers)
            assert (reply.status_code, reply.json()["error"]["code"]) == (413, "too_large")
        except httpx.TransportError:
            assert sent < 5_000_000, "the connection was closed while it was sending"
        assert (await live.client.get("/api/v1/files")).json()["total"] == 0
