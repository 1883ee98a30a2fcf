"""The user's files over real HTTP: uploaded, listed, downloaded, removed, and refused."""

import asyncio
import socket
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from agent.contract.runs import RUN_STREAM_EVENTS
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.files.upload import UPLOAD_LIMIT
from runtime.results import RunFile
from tests.server.live import ASSIST, FLOWS, Live, event_of, serving
from tests.shared.scripted_assistant import assistant, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
FILES = "/api/v1/files"


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


def stored(folder: Path) -> list[Path]:
    """Every file of every user, also unfinished ones."""
    return [path for path in folder.glob("users/**/*") if path.is_file()]


async def upload(live: Live, *named: tuple[str, bytes], folder: str = "") -> httpx.Response:
    parts = [("file", (name, content)) for name, content in named]
    return await live.client.post(FILES, files=parts, params={"folder": folder} if folder else {})


async def test_files_are_added_listed_given_and_removed(catalogue: Catalogue) -> None:
    content = bytes(range(256)) * 2_000
    async with serving(assistant(catalogue)) as live:
        added = await upload(live, ("hand book é.pdf", content), ("b.txt", b"two"), folder="docs")
        assert added.status_code == 201
        assert added.json()["files"][0] == {
            "path": "docs/hand book é.pdf",
            "size": len(content),
            "new": True,
            "url": f"{FILES}/docs/hand%20book%20%C3%A9.pdf",
        }
        listed = (await live.client.get(FILES)).json()
        assert [(file["path"], file["size"]) for file in listed["files"]] == [
            ("docs/b.txt", 3),
            ("docs/hand book é.pdf", len(content)),
        ]
        assert (listed["total"], listed["total_bytes"]) == (2, len(content) + 3)
        got = await live.client.get(added.json()["files"][0]["url"])
        assert (got.content, got.headers["content-type"]) == (content, "application/pdf")
        assert got.headers["content-disposition"].startswith("attachment;")
        assert got.headers["x-content-type-options"] == "nosniff"
        again = await upload(live, ("b.txt", b"three"), folder="docs")
        assert again.json()["files"][0]["new"] is False
        assert (await live.client.delete(f"{FILES}/docs/b.txt")).status_code == 204
        assert code(await live.client.get(f"{FILES}/docs/b.txt")) == (404, "file_not_found")
        assert code(await live.client.delete(f"{FILES}/docs/b.txt")) == (404, "file_not_found")


async def test_a_page_among_the_files_is_given_as_bytes(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        await upload(live, ("a.html", b"<script>alert(1)</script>"), ("a.svg", b"<svg/>"))
        for name in ("a.html", "a.svg"):
            got = await live.client.get(f"{FILES}/{name}")
            assert got.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("name", ["../up.txt", "/etc/cron", ".components/x.py", "con.txt", "a\\..\\b", "x" * 300])
async def test_a_name_that_leaves_the_folder_is_refused(catalogue: Catalogue, name: str, data_folder: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        assert code(await upload(live, (name, b"x"))) == (422, "file_refused")
        assert (await live.client.get(FILES)).json()["total"] == 0
        assert stored(data_folder) == []


async def test_a_file_that_is_too_large_leaves_nothing(catalogue: Catalogue, data_folder: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        assert code(await upload(live, ("big.bin", bytes(UPLOAD_LIMIT + 1)))) == (413, "too_large")
        assert (await live.client.get(FILES)).json()["total"] == 0
        assert stored(data_folder) == []


async def test_what_is_not_an_upload_is_refused(catalogue: Catalogue) -> None:
    kind = {"content-type": "multipart/form-data; boundary=b"}
    async with serving(assistant(catalogue)) as live:
        assert code(await live.client.post(FILES, json={})) == (415, "unsupported_media_type")
        assert code(await live.client.post(FILES, content=b"--x", headers=kind)) == (400, "malformed")
        assert code(await live.client.post(FILES, data={"a": "b"}, files={"f": ("", b"x")})) == (422, "no_file")
        cut = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf'
        assert code(await live.client.post(FILES, content=cut, headers=kind)) == (400, "malformed")
        many = [(f"{number}.txt", b"x") for number in range(21)]
        assert code(await upload(live, *many)) == (422, "file_refused")


@pytest.mark.parametrize("refused", [("../b.txt", b"x"), ("big.bin", bytes(UPLOAD_LIMIT + 1))])
async def test_an_upload_that_is_refused_midway_names_what_was_added_before(
    catalogue: Catalogue, refused: tuple[str, bytes]
) -> None:
    async with serving(assistant(catalogue)) as live:
        answer = await upload(live, ("a.txt", b"x"), ("c.txt", b"y"), refused)
        assert answer.json()["error"]["message"].endswith(" Added before it: a.txt, c.txt.")
        assert [file["path"] for file in (await live.client.get(FILES)).json()["files"]] == ["a.txt", "c.txt"]


async def test_an_upload_that_is_interrupted_leaves_nothing(catalogue: Catalogue, data_folder: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        port = urlsplit(str(live.client.base_url)).port
        with socket.create_connection(("127.0.0.1", port or 0)) as raw:
            head = f"POST {FILES} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 1000\r\n"
            raw.sendall(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
            raw.sendall(b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf')
            await asyncio.sleep(0.3)
        for _ in range(50):
            left = stored(data_folder)
            if not left:
                break
            await asyncio.sleep(0.1)
        assert left == []


async def test_a_message_names_the_files_that_it_is_about(catalogue: Catalogue) -> None:
    who, model = scripted_assistant(catalogue, "question", "At nine.")
    async with serving(who) as live:
        await upload(live, ("hours.txt", b"Open from nine"))
        answered = await live.client.post(ASSIST, json={"input_value": "When is it open?", "files": ["hours.txt"]})
        assert answered.status_code == 200
        assert "hours.txt (14 bytes)" in model.prompts[1]
        refused = await live.client.post(ASSIST, json={"input_value": "And?", "files": ["hours.txt", "../users.key"]})
        assert code(refused) == (422, "file_not_found")
        assert refused.json()["error"]["where"] == "$.files[1]"


async def test_a_run_reports_the_files_that_it_wrote(catalogue: Catalogue, echo: JsonObject) -> None:
    wrote = (RunFile(path="chart.png", size=2, new=True), RunFile(path="notes.txt", size=4, new=False))
    results = [replace(ran("done"), files=wrote) for _ in range(2)]
    async with serving(assistant(catalogue, runner=StandInRunner(results=results))) as live:
        await upload(live, ("notes.txt", b"text"), ("chart.png", b"\x89\xff"))
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        whole = await live.client.post(f"{FLOWS}/{flow}/run", json={})
        assert [file["path"] for file in whole.json()["files"]] == ["chart.png", "notes.txt"]
        streamed = await live.client.post(f"{FLOWS}/{flow}/run", json={"stream": True})
        lines = [line for line in streamed.text.splitlines() if line.startswith("data: ")]
        *written, last = [event_of(line, RUN_STREAM_EVENTS) for line in lines]
        assert [(one["event"], one["action"], one["content"], one["url"]) for one in written] == [
            ("file_written", "run_flow", "", f"{FILES}/chart.png"),
            ("file_written", "run_flow", "text", f"{FILES}/notes.txt"),
        ]
        assert last["event"] == "complete"
