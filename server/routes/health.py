"""Liveness, readiness, and a page for people who open the server's address."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from flows.document import JsonObject
from runtime.runner import Runner
from server.json_response import JsonResponse
from server.state import server_state
from tools.workbench import FlowRunner

MESSAGES = {
    "new": "The flow engine has not been started yet.",
    "installing": "The flow engine is being installed (only the first time).",
    "starting": "The flow engine is starting.",
    "ready": "Flows can be run.",
    "failed": "The flow engine could not be started.",
    "closed": "The flow engine has been stopped.",
}
"""What each state of the runner means."""


async def healthz(_: Request) -> Response:
    """The server answers."""
    return JsonResponse({"ok": True})


async def readyz(request: Request) -> Response:
    """Whether flows can be run and what is stored can be written now; questions are answered before that."""
    state = server_state(request)
    facts: JsonObject = {**readiness(state.assistant.runner), "database": "ready"}
    failure = await state.database_health.failure()
    if failure is not None:
        facts |= {"ready": False, "database": "failed", "message": failure.message, "fix": failure.fix}
    return JsonResponse(facts, 200 if facts["ready"] else 503)


def readiness(runner: FlowRunner) -> JsonObject:
    """The runner's state, with a message for people."""
    state = runner.state
    facts: JsonObject = {"ready": state == "ready", "runner": state, "message": MESSAGES.get(state, "")}
    if runner.failure is not None and state == "failed":
        return {**facts, "message": runner.failure.message, "fix": runner.failure.fix}
    if isinstance(runner, Runner) and runner.progress and state in {"installing", "starting"}:
        return {**facts, "message": runner.progress}
    return facts


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
<li><a href="/readyz">Whether flows can be run</a></li>
</ul>
</html>
"""

routes = [
    Route("/", page, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
