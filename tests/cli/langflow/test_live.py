"""A real Langflow, which `make test-langflow` installs: connected, sent to, edited, run."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Wirewright

EXECUTABLE = os.environ.get("WIREWRIGHT_TEST_LANGFLOW", "")
START_SECONDS = 900

pytestmark = [
    pytest.mark.langflow,
    pytest.mark.skipif(not EXECUTABLE, reason="`make test-langflow` installs Langflow and names it"),
]


@pytest.fixture
def real(tmp_path: Path) -> Generator[tuple[str, str]]:
    """The address of a Langflow with a data folder of its own, and a key for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / "langflow"
    home.mkdir()
    server = subprocess.Popen(
        [EXECUTABLE, "run", "--host", "127.0.0.1", "--port", str(port), "--backend-only", "--no-open-browser"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DO_NOT_TRACK": "true",
            "LANGFLOW_CONFIG_DIR": str(home),
            "LANGFLOW_SAVE_DB_IN_CONFIG_DIR": "true",  # otherwise all that are installed there share one
            "LANGFLOW_AUTO_LOGIN": "true",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            yield url, _key(client)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _key(client: httpx.Client) -> str:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            token: dict[str, Any] = client.get("/api/v1/auto_login").raise_for_status().json()
            break
        except httpx.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(1)
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    return client.post("/api/v1/api_key/", json={"name": "test"}, headers=headers).raise_for_status().json()["api_key"]


def test_a_flow_goes_there_is_edited_on_both_sides_and_runs(
    real: tuple[str, str], wirewright: Wirewright, louder_json: Path, own_data: Path, tmp_path: Path
) -> None:
    url, key = real
    connected = wirewright("langflow", "connect", url, "--json", stdin=key.encode())
    assert (connected.code, connected.json["name"]) == (0, "local"), connected
    pushed = wirewright("flow", "push", louder_json, "--langflow", "--json")
    assert pushed.code == 0, pushed
    assert (pushed.json["sent"], pushed.json["missing"]) == (True, [])
    other = tmp_path / "other.json"
    assert wirewright("flow", "pull", "Louder", "--langflow", "--out", other).code == 0
    louder_json.write_text(louder_json.read_text().replace("Say it louder", "Whisper"))
    assert wirewright("flow", "push", louder_json, "--langflow", "--json").json["sent"] is True
    ran = wirewright("flow", "run", "Louder", "--langflow", "--input", "hi", "--json")
    assert (ran.code, ran.json["output"]) == (0, "Whisper: hi"), ran
    other.write_text(other.read_text().replace("Say it louder", "Sing"))
    clash = wirewright("flow", "push", other, "--langflow", "--json")
    assert (clash.code, clash.json["error"]["code"]) == (1, "flow_moved_on"), clash
    (flow,) = wirewright("langflow", "flows", "--json").json["flows"]
    assert flow["folder"] == "Starter Project"
    asked = wirewright(
        "ask", "--langflow", "Louder", "--model", "demo", "--yes", "Set the template of the prompt to Hum {text}"
    )
    assert asked.code == 0, asked
    said = b"Set the template of the prompt to Shout {text}\ny\n"
    talked = wirewright("chat", "--langflow", "Louder", "--model", "demo", stdin=said)
    assert talked.code == 0, talked
    ran = wirewright("flow", "run", "Louder", "--langflow", "--input", "hi", "--json")
    assert (ran.code, ran.json["output"]) == (0, "Shout hi"), ran
    assert wirewright("langflow", "disconnect", "local").code == 0
