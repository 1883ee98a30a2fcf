"""The page on AG-UI does what it says."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from flows.catalogue import Catalogue
from tests.conformance.agui.driving import environment
from tests.conformance.clients import Clients
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
PAGE = (Path(__file__).parents[3] / "docs" / "ag-ui.md").read_text()


def block(language: str) -> str:
    """The first block of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]


async def test_the_client_of_the_manual_gets_an_answer(catalogue: Catalogue, clients: Clients, tmp_path: Path) -> None:
    script = tmp_path / "manual.mjs"
    script.write_text(block("js"))
    async with serving(assistant(catalogue)) as live:
        [answer] = await clients.run(script, **environment(live))
    assert "Chat Input" in answer


async def test_the_agent_of_the_manual_is_served() -> None:
    names: dict[str, object] = {}
    exec(compile(block("python"), "manual", "exec"), names)  # noqa: S102  (the manual's own code)
    app = names["app"]
    body = {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Plan a walk"}]}
    transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]  # httpx knows a looser form
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        reply = await client.post("/", json=body)
    assert '"type": "STATE_SNAPSHOT", "snapshot": {"steps":' in reply.text
    assert '"RUN_FINISHED"' in reply.text


def test_nothing_of_agui_is_imported_by_who_does_not_use_it() -> None:
    asked = "import sys, wirewright; wirewright.Flow; print([one for one in sys.modules if 'agui' in one])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
