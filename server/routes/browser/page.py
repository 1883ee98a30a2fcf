"""The page: the built front end, which needs no token, and a plain page where it was not built."""

from __future__ import annotations

import mimetypes
import re
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from runtime.files.lock import FileLock
from server.errors import ApiError
from server.requests.operation import operation

STATIC: Final = Path(__file__).parents[2] / "static"
"""Where the build of `web/` puts the page."""

BUILDING: Final = ".building"
"""The file in that folder which `scripts/page.py` locks while it builds."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*", re.ASCII)
"""What the names of the page's files are made of."""

_FOREVER: Final = "public, max-age=31536000, immutable"


@operation(str, media_type="text/html", also={304: None})
async def page(request: Request) -> Response:
    """The page for people; where it was not built, one that says what this server is and how to use it."""
    index = _file("index.html")
    if index is None:
        refresh, word = (_REFRESH, _BEING_BUILT) if _is_being_built() else ("", _NOT_BUILT)
        base = escape(f"http://{request.headers['host']}")
        return HTMLResponse(
            _PLAIN.replace("{refresh}", refresh).replace("{word}", word).replace("{base}", base),
            headers={"Cache-Control": "no-store"},
        )
    content, tag = index
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(content, headers=headers)


@operation(bytes, media_type="application/octet-stream")
async def asset(request: Request) -> Response:
    """A file of the page. Its name changes with its content, so browsers keep it."""
    name: str = request.path_params["name"]
    found = _file(f"assets/{name}") if _NAME.fullmatch(name) else None
    if found is None:
        raise ApiError(404, "not_found", "There is no such file of the page.", "Load the page again.")
    content, _ = found
    return Response(content, headers={"Cache-Control": _FOREVER}, media_type=_media_type(name))


@operation(bytes, media_type="image/svg+xml", errors=(404,))
async def icon(_: Request) -> Response:
    """The page's icon."""
    found = _file("icon.svg")
    if found is None:
        raise ApiError(404, "not_found", "The page was not built.", "Build it with `make install`.")
    return Response(found[0], headers={"Cache-Control": "no-cache"}, media_type="image/svg+xml")


def _is_being_built() -> bool:
    """Whether a build holds its lock, which the system releases when the build ends in whatever way."""
    path = STATIC / BUILDING
    lock = FileLock(path, shared=True)
    try:
        return path.exists() and not lock.try_acquire()
    except OSError:
        return False
    finally:
        lock.release()


def _media_type(name: str) -> str:
    return "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "application/octet-stream"


def _file(name: str) -> tuple[bytes, str] | None:
    """A file's content and its tag; None when there is none."""
    path = STATIC / name
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@cache
def _read(path: Path, _: int) -> tuple[bytes, str]:
    content = path.read_bytes()
    return content, f'"{sha256(content).hexdigest()[:16]}"'


_REFRESH = '<meta http-equiv="refresh" content="2">\n'
_BEING_BUILT = (
    "<p role=status><strong>The page is being built</strong> and opens here by itself as soon as it is. "
    "All else is served already.</p>"
)
_NOT_BUILT = (
    "<p>The page is not built here. In a checkout, <code>make page</code> builds it or says what is missing; what it "
    "builds is served without a restart.</p>"
)
_PLAIN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
{refresh}<meta name="viewport" content="width=device-width">
<title>Wirewright</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: .5rem }
</style>
<h1>Wirewright</h1>
{word}
<p>An assistant that builds, edits, explains and runs Langflow flows from plain language. Ask it over HTTP:</p>
<pre>curl -N {base}/api/v1/agentic/assist/stream \\
  -H "Authorization: Bearer $(wirewright token)" -H 'Content-Type: application/json' \\
  -d '{"input_value": "Build an echo chat, then run it with hello"}'</pre>
<p>To follow these links, sign this browser in: open the link that the server printed when it started, or the one that
<code>wirewright token --link</code> prints.</p>
<ul>
<li><a href="/api/v1/agentic/check-config">Which models serve</a></li>
<li><a href="/api/v1/flows">Stored flows</a></li>
<li><a href="/docs">The HTTP API</a></li>
<li><a href="/readyz">Whether flows can be run</a></li>
</ul>
</html>
"""

routes = [
    Route("/", page, methods=["GET"]),
    Route("/assets/{name}", asset, methods=["GET"]),
    Route("/icon.svg", icon, methods=["GET"]),
]
