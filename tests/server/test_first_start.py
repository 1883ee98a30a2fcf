"""The first start: without a network, and on a terminal."""

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from runtime.keychain.access_token import access_token

ROOT = Path(__file__).parent.parent.parent
MISSING = "The flow engine's packages cannot be downloaded."
SECONDS = 120


@pytest.fixture
def offline(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has no network, no flow engine, and none of its packages."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("WIREWRIGHT_")},
        "WIREWRIGHT_DATA": str(tmp_path / "data"),
        "WIREWRIGHT_CACHE": str(tmp_path / "cache"),
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "PORT": "0",
    }


@contextmanager
def served(wirewright: Path, environment: dict[str, str], log: Path) -> Generator[httpx.Client]:
    """A served assistant; yields a client of it."""
    command = [wirewright, "serve"]
    with log.open("wb") as output, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output) as process:
        try:
            until = time.monotonic() + SECONDS
            while "curl" not in (printed := log.read_text()):
                assert process.poll() is None
                assert time.monotonic() < until, printed
                time.sleep(0.05)
            url = printed.split("serves at ")[1].split()[0]
            headers = {"Authorization": f"Bearer {access_token(Path(environment['WIREWRIGHT_DATA']))}"}
            with httpx.Client(base_url=url, timeout=SECONDS, trust_env=False, headers=headers) as client:
                yield client
        finally:
            process.terminate()
            process.wait(30)


def asked(client: httpx.Client, text: str) -> dict[str, object]:
    """What the assistant answers."""
    reply = client.post("/api/v1/agentic/assist", json={"input_value": text})
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_what_runs_nothing_is_served_and_the_rest_is_explained_when_there_is_no_network(
    offline: dict[str, str], tmp_path: Path, wirewright_command: Path
) -> None:
    log = tmp_path / "log"
    with served(wirewright_command, offline, log) as client:
        until = time.monotonic() + SECONDS
        while (state := client.get("/readyz").json())["runner"] != "failed":
            assert time.monotonic() < until, state
            time.sleep(0.05)
        assert (state["ready"], state["message"]) == (False, MISSING)
        assert "network" in state["fix"]
        assert "wirewright runner install" in state["fix"]
        assert "Langflow" in str(asked(client, "What can you do?")["result"])
        assert client.get("/api/v1/components", params={"query": "pdf"}).status_code == 200
        built = asked(client, "Build an echo flow")
        assert built["proposal"]
        assert built["caveats"] == [f"It was checked but not run: {MISSING}"]
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    failures = [line["message"] for line in lines if line["level"] == "warning"]
    assert failures[0].startswith(f"Flows cannot be run: {MISSING} Check the network")
    assert "\x1b" not in log.read_text()
    status = [wirewright_command, "runner", "status"]
    shown = subprocess.run(status, cwd=ROOT, env=offline, capture_output=True, text=True, timeout=60, check=True).stdout
    assert shown.startswith("Not installed. Run: wirewright runner install")


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_the_server_prints_nothing_but_its_own_lines_and_ends_quietly_when_it_is_interrupted_on_a_terminal(
    kind: str, offline: dict[str, str], wirewright_command: Path
) -> None:
    parent, child = pty.openpty()
    command = [wirewright_command, "serve"]
    environment = {**offline, "TERM": kind}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=child, stdout=child, stderr=child)
    os.close(child)
    printed = b""
    try:
        while b"Flows cannot be run" not in printed:
            printed += os.read(parent, 4096)
        process.send_signal(signal.SIGINT)
        with pytest.raises(OSError):  # the terminal's end, once nothing has it open
            while more := os.read(parent, 4096):
                printed += more
    finally:
        process.wait(30)
        os.close(parent)
    assert process.returncode == 0
    text = printed.decode()
    lines = text.replace("\r\x1b[K", "\n").replace("\r\n", "\n").split("\n")
    beginnings = (
        "Wirewright serves at",
        "  browser",
        "  terminal",
        "  curl",
        "Installing the flow",
        "Flows cannot be run",
    )
    assert [line for line in lines if line and not line.startswith(beginnings)] == []
    assert ("\x1b" in text) is (kind != "dumb")


def test_a_port_that_is_taken_is_reported_without_a_trace(
    offline: dict[str, str], tmp_path: Path, wirewright_command: Path
) -> None:
    with served(wirewright_command, offline, tmp_path / "log") as client:
        command = [wirewright_command, "serve", "--port", str(client.base_url.port)]
        done = subprocess.run(
            command, cwd=ROOT, env=offline, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        (
            f"Error: Cannot listen on port {client.base_url.port} of 127.0.0.1: it is taken or not allowed. "
            "Stop what uses it, or set WIREWRIGHT_PORT to another port."
        )
    ]
