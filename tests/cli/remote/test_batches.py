"""`flow run --batch --server`: progress, results as they come, an interruption, and a server that is away."""

import asyncio
import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.errors import INTERRUPTED
from flows.document import Flow, JsonObject
from runtime.options import RunOptions
from runtime.results import RunResult
from tests.cli.remote.conftest import Remote, Serve


def soon(what: Callable[[], bool]) -> bool:
    """Whether something happens within a minute."""
    deadline = time.monotonic() + 60
    while not what() and time.monotonic() < deadline:
        time.sleep(0.02)
    return what()


def written(out: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of results."""
    return [json.loads(line) for line in out.read_text().split("\n")[:-1]] if out.exists() else []


class Held:
    """Holds up the runs of one text until it is let go."""

    def __init__(self, remote: Remote, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free = threading.Event()
        execute = remote.runner.execute

        async def held(flow: Flow, given: str | None, options: RunOptions) -> RunResult:
            if given == text:
                await asyncio.to_thread(self.free.wait, 60)
            return await execute(flow, given, options)

        monkeypatch.setattr(remote.runner, "execute", held)


def begun(serve: Serve, echo: JsonObject, folder: Path, *texts: str) -> tuple[Remote, tuple[object, ...], Path]:
    """A server that stores a flow, the command that runs a batch through it, and the file for its results."""
    remote, out = serve(), folder / "results.jsonl"
    (folder / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    assert remote.run("flow", "import", folder / "echo.json").code == 0
    (folder / "inputs.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
    return remote, ("flow", "run", "Echo", "--batch", folder / "inputs.jsonl", "--out", out), out


def test_results_are_written_as_they_come_and_ctrl_c_leaves_the_batch_to_the_server(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote, command, out = begun(serve, echo, tmp_path, "a", "b", "held")
    held = Held(remote, "held", monkeypatch)

    def interrupt() -> None:
        if soon(lambda: len(written(out)) == 2):
            signal.raise_signal(signal.SIGINT)

    stopper = threading.Thread(target=interrupt)
    stopper.start()
    left = remote.run(*command)
    stopper.join()
    said = " ".join(left.err.split())
    assert left.code == INTERRUPTED, left
    assert [(line["position"], line["state"]) for line in written(out)] == [(0, "done"), (1, "done")]
    batch = said.partition("Batch ")[2].split()[0]
    assert f"Batch {batch} at {remote.url}: 3 inputs." in said
    assert "of 3 inputs have ended" in said
    assert f"The batch goes on at {remote.url}, without this command." in said
    assert f"wirewright jobs show {batch} --server {remote.url}" in said
    assert f"wirewright jobs cancel {batch} --server {remote.url}" in said
    held.free.set()
    done = remote.run(*command, "--json")
    assert (done.code, done.json["done"], done.json["id"]) == (0, 3, batch), done
    assert [line["position"] for line in written(out)] == [0, 1, 2]
    assert len(remote.runner.asked) == 3


def test_a_server_that_is_away_is_asked_again_until_it_is_back(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.jobs.server_batch.POLL_SECONDS", 0.01)
    remote, command, out = begun(serve, echo, tmp_path, "a", "held")
    held = Held(remote, "held", monkeypatch)
    refused: list[str] = []
    handle = httpx.HTTPTransport.handle_request

    def away(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if "/batches/" in request.url.path and len(refused) < 5:
            refused.append(request.url.path)
            held.free.set()
            raise httpx.ConnectError("refused")
        return handle(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", away)
    done = remote.run(*command, "--json")
    assert (done.code, done.json["done"], len(refused)) == (0, 2, 5), done
    assert done.err.count(f"{remote.url} cannot be reached. The batch {done.json['id']} goes on once") == 1
    assert [line["position"] for line in written(out)] == [0, 1]


def test_a_server_that_stays_away_is_given_up_with_a_word_on_how_to_go_on(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.jobs.server_batch.AWAY_SECONDS", 0.0)
    remote, command, _ = begun(serve, echo, tmp_path, "held")
    held = Held(remote, "held", monkeypatch)
    handle = httpx.HTTPTransport.handle_request

    def away(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if "/batches/" in request.url.path:
            raise httpx.ConnectError("refused")
        return handle(self, request)

    with monkeypatch.context() as patched:
        patched.setattr(httpx.HTTPTransport, "handle_request", away)
        lost = remote.run(*command, "--json")
    assert (lost.code, lost.json["error"]["code"]) == (1, "server_unreachable")
    assert lost.json["error"]["fix"].startswith("The same command again follows it and completes the file.")
    held.free.set()
    assert remote.run(*command, "--json").json["done"] == 1


def test_the_same_command_goes_on_with_what_was_cancelled_from_elsewhere(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote, command, _ = begun(serve, echo, tmp_path, "a", "b")
    headers = {"Authorization": f"Bearer {remote.token}"}
    remote.runner.hangs = True
    outcome: list[Any] = []

    def cancel() -> None:
        place = f"{remote.url}/api/v1/batches"
        if soon(lambda: bool(httpx.get(place, headers=headers).json()["batches"])):
            [batch] = httpx.get(place, headers=headers).json()["batches"]
            outcome.append(httpx.post(f"{place}/{batch['id']}/cancel", headers=headers).status_code)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    ended = remote.run(*command, "--json")
    canceller.join()
    assert (outcome, ended.code, ended.json["waiting"]) == ([200], 1, 2), ended
    remote.runner.hangs = False
    assert remote.run(*command, "--json").json["done"] == 2


def test_a_batch_that_is_too_large_for_the_server_says_where_to_split_its_file(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_CHAT_BODY_LIMIT", "2000")
    monkeypatch.setattr("cli.jobs.server_batch.CHAT_BODY_BYTES", 2_000)
    remote, command, out = begun(serve, echo, tmp_path, *["x" * 400] * 8)
    refused = remote.run(*command, "--json")
    assert (refused.code, refused.json["error"]["code"], refused.json["error"]["where"]) == (2, "too_large", "--batch")
    assert f"The 8 inputs of {tmp_path / 'inputs.jsonl'} are " in refused.json["error"]["message"]
    assert refused.json["error"]["fix"] == f"Split it: split -l 4 {tmp_path / 'inputs.jsonl'}"
    assert not out.exists()
    headers = {"Authorization": f"Bearer {remote.token}"}
    [flow] = httpx.get(f"{remote.url}/api/v1/flows", headers=headers).json()["flows"]
    sent = {"inputs": ["x" * 400] * 8}
    raw = httpx.post(f"{remote.url}/api/v1/flows/{flow['id']}/batch", json=sent, headers=headers)
    assert raw.status_code == 413
    assert "as several batches" in raw.json()["error"]["fix"]
