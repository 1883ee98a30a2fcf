"""The page: what is served of it without a token, with which headers, and what stands there when it was not built."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from flows.catalogue import Catalogue
from runtime.files.lock import FileLock
from server.middleware.host_check import PAGE_POLICY
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
INDEX = "<!doctype html><script type=module src=/assets/index-1.js></script>"


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built page of two files."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "icon.svg").write_text("<svg/>")
    (folder / "assets" / "index-1.js").write_text("1")
    (folder / "secret.txt").write_text("not of the page")
    monkeypatch.setattr("server.routes.browser.page.STATIC", folder)
    return folder


async def test_the_page_may_load_what_this_server_serves_and_nothing_else(catalogue: Catalogue, static: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.stranger.get("/")
        again = await live.stranger.get("/", headers={"If-None-Match": reply.headers["etag"]})
        others = [await live.stranger.get(path) for path in ("/healthz", "/docs", "/assets/index-1.js", "/nowhere")]
    assert (reply.text, reply.headers["content-security-policy"]) == (INDEX, PAGE_POLICY)
    assert reply.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")
    assert "unsafe-eval" not in PAGE_POLICY
    assert not re.search(r"script-src[^;]*(unsafe|http|\*)", PAGE_POLICY)
    assert all("script" not in other.headers["content-security-policy"] for other in others), "no other may run any"


async def test_files_of_the_page_are_kept_by_browsers(catalogue: Catalogue, static: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        script, icon = [await live.stranger.get(path) for path in ("/assets/index-1.js", "/icon.svg")]
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in script.headers["cache-control"]
    assert icon.headers["content-type"] == "image/svg+xml"
    assert icon.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        *("/assets/none.js", "/assets/", "/assets/../secret.txt", "/assets/%2e%2e/secret.txt"),
        *("/assets/..%2fsecret.txt", "/assets/..%2f..%2fapp.py", "/assets/%2fetc%2fpasswd", "/assets/.digest"),
        *("/secret.txt", "/index.html", "/assets/a/b.js", "/assets/../api/v1/flows", "/assets/index-1.js%00"),
    ],
)
async def test_nothing_beside_the_files_of_the_page_is_served(path: str, catalogue: Catalogue, static: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        raw = httpx.URL(str(live.stranger.base_url), raw_path=path.encode())
        reply = await live.stranger.send(live.stranger.build_request("GET", raw))
    assert reply.status_code in {401, 404}
    assert "not of the page" not in reply.text


async def test_a_new_page_is_served_without_a_restart(catalogue: Catalogue, static: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        first = await live.stranger.get("/")
        (static / "index.html").write_text(f"{INDEX}<!-- newer -->")
        second = await live.stranger.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert second.status_code == 200
    assert second.text.endswith("newer -->")


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout without a built page."""
    monkeypatch.setattr("server.routes.browser.page.STATIC", tmp_path / "nothing")


@pytest.mark.usefixtures("unbuilt")
async def test_the_page_shows_a_command_for_the_address_it_was_asked_at(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get("/", headers={"Host": "localhost:4711"})
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "curl -N http://localhost:4711/api/v1/agentic/assist/stream" in reply.text
    assert not re.search(r"<script|https?://(?!localhost:4711)", reply.text), "nothing is loaded from anywhere"


@contextmanager
def being_built(folder: Path) -> Generator[None]:
    """As while `scripts/page.py` builds."""
    lock = FileLock(folder / ".building")
    assert lock.try_acquire()
    try:
        yield
    finally:
        lock.release()


async def test_a_page_that_is_being_built_is_announced_and_then_served(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "static"
    monkeypatch.setattr("server.routes.browser.page.STATIC", folder)
    async with serving(assistant(catalogue)) as live:
        with being_built(folder):
            waiting = await live.stranger.get("/")
            (folder / "index.html").write_text(INDEX)
            built = await live.stranger.get("/")
    assert "The page is being built" in waiting.text
    assert '<meta http-equiv="refresh"' in waiting.text, "it reloads itself without a script"
    assert "<script" not in waiting.text
    assert waiting.headers["cache-control"] == "no-store"
    assert built.text == INDEX


async def test_a_build_that_ended_without_a_page_is_not_waited_for(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.routes.browser.page.STATIC", tmp_path)
    async with serving(assistant(catalogue)) as live:
        with being_built(tmp_path):
            pass
        reply = await live.stranger.get("/")
    assert "being built" not in reply.text
    assert "refresh" not in reply.text
    assert "make page" in reply.text


async def test_the_page_that_is_there_is_served_while_a_newer_one_is_built(catalogue: Catalogue, static: Path) -> None:
    async with serving(assistant(catalogue)) as live:
        with being_built(static):
            reply = await live.stranger.get("/")
    assert reply.text == INDEX
