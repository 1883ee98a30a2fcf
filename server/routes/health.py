"""Liveness, readiness, and a page for people who open the server's address."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from agent.contract.model import Received, optional
from runtime.install.release import release
from server.errors import RETRY_SECONDS
from server.json_response import JsonResponse
from server.readiness import Part, readiness, runner_part
from server.requests.operation import operation
from server.state import server_state


class Liveness(Received):
    """The process is running.

    Attributes:
        release: the release that it is of.
    """

    ok: bool
    release: str


class Readiness(Received):
    """Whether everything works.

    Attributes:
        ready: whether it does.
        runner: the state of the flow engine.
        database: the state of the database.
        server: says that the server is stopping.
        message: what the first part says that does not work; what the engine says if all do.
        fix: what to do about it.
        failing: the parts that do not work.
    """

    ready: bool
    runner: str
    database: str
    server: str | None = optional()
    message: str
    fix: str | None = optional()
    failing: list[str] | None = optional()


@operation(Liveness)
async def healthz(_: Request) -> Response:
    """The server answers; which release it is."""
    return JsonResponse({"ok": True, "release": release()})


@operation(Readiness, also={503: Readiness})
async def readyz(request: Request) -> Response:
    """Whether everything works now, and if not, which part and what to do; questions are answered before that."""
    state = server_state(request)
    parts = [await state.database.part(), runner_part(state.assistant.runner)]
    if state.drain.deadline is not None:
        parts.insert(0, Part("server", "stopping", "The server is stopping.", "Ask another one."))
    facts = readiness(*parts)
    return JsonResponse(facts, 200) if facts["ready"] else JsonResponse(facts, 503, {"Retry-After": RETRY_SECONDS})


@operation(str, media_type="text/html")
async def page(request: Request) -> Response:
    """A page that says what this server is and how to use it."""
    return HTMLResponse(_PAGE.replace("{base}", escape(f"http://{request.headers['host']}")))


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Wirewright</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: .5rem }
</style>
<h1>Wirewright</h1>
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
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
