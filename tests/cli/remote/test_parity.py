"""Every command works on a server or says why not, and every route serves a command or says why not."""

import json
import shlex
from pathlib import Path

import httpx
import pytest
from starlette.routing import Match
from starlette.types import Scope
from typer.main import get_command

from cli.main import command_line
from flows.document import JsonObject
from server.access.scopes import NEEDS
from server.requests.operation import operations
from tests.cli.conftest import Wirewright
from tests.cli.remote.conftest import Remote, Serve
from tests.cli.remote.parity import PARITY, WITHOUT_COMMAND, Carries, Here, OnServer
from tests.cli.test_main import commands
from tests.server.access.test_users import routes

TREE = {" ".join(path): command for path, command in commands(get_command(command_line()))}
ROUTES = routes()
ON_SERVER = {name: row for name, row in PARITY.items() if isinstance(row, OnServer)}


def served() -> set[str]:
    """The methods and paths that the server serves."""
    return {f"{method.upper()} {path}" for path, method, _ in operations(routes())}


def test_every_command_is_in_the_table_and_takes_a_server_exactly_where_it_says_so() -> None:
    assert set(PARITY) == set(TREE)
    taking = {
        name
        for name, command in TREE.items()
        if any("--server" in option.opts for option in getattr(command, "params", []))
    }
    assert taking == set(ON_SERVER) | {name for name, row in PARITY.items() if isinstance(row, Carries)}
    assert all(row.reason for row in PARITY.values() if isinstance(row, Here | Carries))


def test_every_route_serves_a_command_or_the_table_says_why_none_needs_it() -> None:
    called = {route for row in ON_SERVER.values() for route in row.routes}
    assert called | set(WITHOUT_COMMAND) == served()
    assert called.isdisjoint(WITHOUT_COMMAND)
    assert {route.partition(" ")[2] for route in served()} == set(NEEDS)


@pytest.mark.parametrize("name", [name for name, row in PARITY.items() if isinstance(row, Here)])
def test_a_command_of_this_machine_refuses_a_server(name: str, wirewright: Wirewright) -> None:
    done = wirewright(*name.split(), "--server", "http://127.0.0.1:1", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "not_remote")


@pytest.mark.parametrize("name", [name for name, row in ON_SERVER.items() if row.alone])
def test_a_command_of_servers_says_that_it_needs_one(name: str, wirewright: Wirewright) -> None:
    row = ON_SERVER[name]
    done = wirewright(*shlex.split(row.line), "--json", stdin=row.stdin.encode())
    assert done.code == 2
    assert done.json["error"]["code"] in ("server_needed", "unreadable")


def filled(remote: Remote, echo: JsonObject, folder: Path) -> None:
    """Give the server one of everything, by commands."""
    (folder / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    (folder / "hours.txt").write_text("nine")
    (folder / "kept.txt").write_text("kept")
    for line in (
        "flow import echo.json",
        "files add kept.txt",
        "users add grace",
        "flow run Echo --input hi",
        "ask 'What is a flow?' --session monday",
    ):
        assert remote.run(*shlex.split(line)).code == 0, line
    assert remote.run("variables", "set", "KEPT", stdin=b"secret").code == 0


@pytest.mark.table
@pytest.mark.parametrize("name", ON_SERVER)
def test_a_command_asks_a_server_for_what_the_table_says(
    name: str, serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    remote = serve("question", "A graph.", "question", "A graph.")
    filled(remote, echo, tmp_path)
    asked: set[str] = set()
    for kind in (httpx.HTTPTransport, httpx.AsyncHTTPTransport):
        noted(monkeypatch, kind, asked)
    row = ON_SERVER[name]
    done = remote.run(*shlex.split(row.line), stdin=row.stdin.encode() or None)
    assert done.code == row.code, done
    assert {route_of(*each.split(" ", 1)) for each in asked} == set(row.routes)


def noted(monkeypatch: pytest.MonkeyPatch, kind: type, asked: set[str]) -> None:
    """Note what is sent."""
    method = "handle_request" if kind is httpx.HTTPTransport else "handle_async_request"
    handle = getattr(kind, method)

    def sent(self: object, request: httpx.Request) -> object:
        asked.add(f"{request.method} {request.url.raw_path.decode().partition('?')[0]}")
        return handle(self, request)

    monkeypatch.setattr(kind, method, sent)


def route_of(method: str, path: str) -> str:
    """The route that serves an address."""
    scope: Scope = {"type": "http", "method": method, "path": httpx.URL(f"http://x{path}").path, "headers": []}
    found = next(route for route in ROUTES if route.matches(scope)[0] is Match.FULL)
    return f"{method} {found.path}"
