"""A component that `flow run`, `ask`, `chat` or `eval` runs beside a server gets nothing from it, not an answer."""

import pytest

from flows.catalogue import Catalogue
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.attempts import MakeCode, needs, outcome
from tests.shared.scripted_assistant import assistant

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

BY_ITSELF = "return socket.create_connection(('127.0.0.1', {port}), 3).getpeername()[1]"
BY_THE_PROXY = "import httpx\nreturn httpx.get('http://127.0.0.1:{port}/healthz').raise_for_status().text"
BY_NAME = "import httpx\nreturn httpx.get('http://localhost:{port}/healthz').raise_for_status().text"
TOKEN = "return open('{data}/token').read()"
CODE = "import hashlib\nreturn hashlib.sha256(open('{data}/token', 'rb').read()).hexdigest()"
FOLDER = "return os.stat('{data}/token').st_size"


@pytest.mark.parametrize("attempt", [BY_ITSELF, BY_THE_PROXY, BY_NAME, TOKEN, CODE, FOLDER])
async def test_a_run_beside_a_server_gets_nothing_from_it(
    attempt: str, catalogue: Catalogue, runner: Runner, make_code: MakeCode, active: frozenset[str]
) -> None:
    needs(active, "network of other runs", "file system")
    async with serving(assistant(catalogue)) as live:
        assert (await live.stranger.get("/healthz")).status_code == 200, "it is there"
        there = {"{port}": str(live.client.base_url.port), "{data}": str(ServerSettings().data)}
        for name, value in there.items():
            attempt = attempt.replace(name, value)
        found = await outcome(runner, make_code, attempt, "open", None)
    assert "stopped" in found, found
