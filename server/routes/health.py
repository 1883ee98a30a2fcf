"""Liveness and readiness."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
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
        workers: how many workers are there for each queue, for a server that leaves all work to them.
    """

    ready: bool
    runner: str
    database: str
    server: str | None = optional()
    message: str
    fix: str | None = optional()
    failing: list[str] | None = optional()
    workers: dict[str, int] | None = optional()


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
    if state.settings.leaves_work and state.jobs.standing is not None:
        facts["workers"] = {**state.jobs.standing.workers}
    return JsonResponse(facts, 200) if facts["ready"] else JsonResponse(facts, 503, {"Retry-After": RETRY_SECONDS})


routes = [
    Route("/healthz", healthz, methods=["GET"]),
    Route("/readyz", readyz, methods=["GET"]),
]
