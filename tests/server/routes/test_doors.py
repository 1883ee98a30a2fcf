"""A server imports what speaks a protocol when its first client comes, and nothing of the others."""

import subprocess
import sys

from starlette.routing import Route

from server.requests.deferred import Deferred
from server.routes import doors
from tests.server.access.test_users import routes

DOORS = {
    "POST /ag-ui": ("server.agui", "server.streams.agui"),
    "POST /api/chat": ("server.routes.aisdk.", "server.streams.aisdk"),
    "POST /mcp": ("server.mcp.transports.endpoint", "server.mcp.transports.http", "mcp"),
    "GET /api/v1/langflow": ("server.routes.langflow.", "runtime.langflow.client"),
}
"""A request of each, and what its modules begin with."""

ASKED = """
import asyncio, sys
from flows.catalogue import Catalogue
from tests.server.live import serving, events
from tests.shared.scripted_assistant import ScriptedModel, assistant

async def main():
    async with serving(assistant(Catalogue.load(), ScriptedModel("question", "A graph."))) as live:
        assert (await events(live.client, session_id="s", input_value="What is a flow?"))[-1]["event"] == "complete"
        for request in sys.argv[1:]:
            method, path = request.split()
            await live.client.request(method, path, json={} if method == "POST" else None)
        print(*sorted(sys.modules), sep="\\n")

asyncio.run(main())
"""


def imported(*requests: str) -> list[str]:
    """The doors of which anything is imported by a server that has answered a question and some requests."""
    done = subprocess.run([sys.executable, "-c", ASKED, *requests], capture_output=True, text=True, check=True)
    modules = done.stdout.split("\n")
    return [door for door, names in DOORS.items() if any(module.startswith(names) for module in modules)]


def test_a_door_that_nobody_uses_is_not_imported() -> None:
    assert imported() == []


def test_a_door_is_imported_by_its_first_request() -> None:
    assert imported("POST /ag-ui") == ["POST /ag-ui"]
    assert imported("POST /api/chat", "GET /api/v1/langflow") == ["POST /api/chat", "GET /api/v1/langflow"]
    assert imported(*DOORS) == [*DOORS]


def test_every_route_of_a_door_has_its_endpoint() -> None:
    served = {route.path for route in routes()}
    for route in (*doors.routes, *doors.langflow_routes):
        assert isinstance(route, Route)
        assert isinstance(route.endpoint, Deferred)
        assert callable(route.endpoint.endpoint)
        assert route.path in served
