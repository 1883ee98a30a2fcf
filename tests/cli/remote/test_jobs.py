"""Batches, jobs and schedules at a server, by commands: progress, interruptions, and a server that is away."""

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
from runtime.results import RunError, RunResult
from tests.cli.remote.conftest import Remote, Serve
from tests.shared.stand_ins import ran

FAILED = RunError(code="crash", message="It broke.")


def stored(serve: Serve, echo: JsonObject, folder: Path) -> Remote:
    """A server that stores a flow."""
    remote = serve()
    (folder / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    assert remote.run("flow", "import", folder / "echo.json").code == 0
    return remote


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


def test_a_batch_runs_at_a_server_and_what_has_failed_is_run_again(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = stored(serve, echo, tmp_path)
    remote.runner.results = [ran("said"), ran(error=FAILED), ran("said")]
    inputs, out = tmp_path / "inputs.jsonl", tmp_path / "results.jsonl"
    inputs.write_text('"one"\n{"input_value": "two"}\n\n"three"\n')
    command = ("flow", "run", "Echo", "--batch", inputs, "--out", out, "--json")
    unknown = remote.run("flow", "run", "Echo", "--batch", inputs, "--estimate", "--json").json
    assert unknown == {"inputs": 3, "runs": 0, "tokens": None, "seconds": None, "dollars": None}
    first = remote.run(*command)
    assert (first.code, first.json["done"], first.json["failed"], first.json["ok"]) == (1, 2, 1, False)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["position"] for line in lines] == [0, 1, 2]
    (bad,) = [line for line in lines if line["state"] == "failed"]
    again = remote.run(*command)
    assert (again.json["id"], again.json["failed"]) == (first.json["id"], 1)
    shown = remote.run("jobs", "show", f"{first.json['id']}.{bad['position']}")
    assert "failed, begun once" in shown.out
    assert "It broke." in shown.out
    done = remote.run(*command, "--retry-failed")
    assert (done.code, done.json["ok"], done.json["done"]) == (0, True, 3), done
    assert len(remote.runner.asked) == 4


def test_a_job_at_a_server_is_cancelled_and_tried_again(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = stored(serve, echo, tmp_path)
    remote.runner.results = [ran(error=FAILED), ran("said")]
    (tmp_path / "inputs.jsonl").write_text('"one"\n')
    command = ("flow", "run", "Echo", "--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    job = f"{remote.run(*command).json['id']}.0"
    refused = remote.run("jobs", "cancel", job, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "job_ended")
    assert remote.run("jobs", "retry", job, "--json").json["state"] in ("queued", "running", "done")
    assert remote.run(*command).json["done"] == 1
    [line] = remote.run("jobs", "list").out.splitlines()
    assert line.split()[0] == job.removesuffix(".0")
    assert remote.run("jobs", "show", "none", "--json").json["error"]["code"] == "job_not_found"


def test_a_batch_is_listed_shown_cancelled_and_tried_again(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = stored(serve, echo, tmp_path)
    remote.runner.hangs = True
    headers = {"Authorization": f"Bearer {remote.token}"}
    [flow] = httpx.get(f"{remote.url}/api/v1/flows", headers=headers).json()["flows"]
    place = f"{remote.url}/api/v1/flows/{flow['id']}/batch"
    httpx.post(place, json={"inputs": ["a", "b", "c"], "id": "mine"}, headers=headers).raise_for_status()
    httpx.post(place, json={"inputs": ["a"], "id": "other"}, headers=headers).raise_for_status()
    listed = remote.run("jobs", "list", "--json").json
    assert (listed["total"], listed["total_batches"], listed["jobs"]) == (0, 2, [])
    assert {one["id"]: one["name"] for one in listed["batches"]} == {"mine": "Echo", "other": "Echo"}
    [row] = [line for line in remote.run("jobs", "list").out.splitlines() if line.startswith("mine")]
    assert "Echo" in row
    assert "3 inputs: " in row
    assert remote.run("jobs", "show", "m", "--json").json["total"] == 3
    shown = remote.run("jobs", "show", "mine").out
    assert shown.startswith("mine\nBatch of Echo, version 1: ")
    assert remote.run("jobs", "show", "mine.0", "--json").json["name"] == "Echo"
    assert remote.run("jobs", "cancel", "mine", "--json").json["reason"] == "The batch was cancelled."
    with httpx.Client(headers=headers) as client:
        while not client.get(f"{remote.url}/api/v1/batches/mine").json()["ended"]:
            pass
    assert "wirewright jobs retry mine" in remote.run("jobs", "show", "mine").out
    remote.runner.hangs = False
    assert remote.run("jobs", "retry", "mine").err.startswith("The batch mine: 3 inputs: ")
    for what in ("show", "cancel", "retry"):
        missing = remote.run("jobs", what, "none", "--json").json["error"]
        assert (missing["code"], "jobs list" in missing["fix"]) == ("job_not_found", True)
    remote.run("jobs", "cancel", "other")


def test_a_schedule_is_added_listed_switched_off_edited_and_removed(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = stored(serve, echo, tmp_path)
    assert remote.run("flow", "schedule", "list").err.endswith("Nothing runs by itself.\n")
    bad = remote.run("flow", "schedule", "add", "Echo", "--cron", "61 * * * *", "--json")
    assert (bad.code, bad.json["error"]["code"], bad.json["error"]["where"]) == (2, "invalid_schedule", "--cron")
    zone = remote.run("flow", "schedule", "add", "Echo", "--cron", "0 7 * * *", "--zone", "No/Where", "--json")
    assert (zone.code, zone.json["error"]["where"]) == (2, "--zone")
    notify = remote.run("flow", "schedule", "add", "Echo", "--cron", "0 7 * * *", "--notify", "nowhere", "--json")
    said = "This is not an address with http or https, and a host."
    assert (notify.code, notify.json["error"]["where"], notify.json["error"]["message"]) == (2, "--notify", said)
    assert remote.run("flow", "schedule", "add", "Echo").code == 2
    told = ("--input", "hi", "--notify", "https://hooks.example.org/failed")
    made = remote.run("flow", "schedule", "add", "Echo", "--cron", "0 7 * * *", *told, "--json").json
    assert (made["name"], made["input_value"], made["notify"]) == ("Echo", *told[1::2])
    hook = remote.run("flow", "schedule", "add", "Echo", "--webhook")
    assert "whk_" in hook.out
    assert f"POST {remote.url}/api/v1/hooks/" in hook.out
    shown = remote.run("flow", "schedule", "list").out
    assert "Echo" in shown
    assert "0 7 * * * (UTC), types 'hi', reports failures to https://hooks.example.org/failed" in shown
    assert f"{remote.url}/api/v1/hooks/" in shown
    listed = remote.run("flow", "schedule", "list", "--json").json["schedules"]
    assert {one["kind"] for one in listed} == {"cron", "webhook"}
    assert "whk_" not in json.dumps(listed)
    assert remote.run("flow", "schedule", "switch", made["id"], "off").err.endswith("It is off.\n")
    assert remote.run("flow", "schedule", "switch", made["id"], "on", "--json").json["next_at"] == made["next_at"]
    edit = ("flow", "schedule", "edit", made["id"])
    moved = remote.run(*edit, "--cron", "30 8 * * *", "--zone", "Europe/Berlin", "--json").json
    assert (moved["cron"], moved["zone"], moved["next_at"][14:16]) == ("30 8 * * *", "Europe/Berlin", "30")
    assert (moved["input_value"], moved["notify"], moved["id"]) == (*told[1::2], made["id"])
    said = remote.run(*edit, "--input", "Good morning").err
    assert said.endswith(f"Changed: {made['id']}. Due next at {moved['next_at']}.\n")
    silent = remote.run(*edit, "--no-input", "--notify", "", "--json").json
    assert (silent["input_value"], silent["notify"], silent["cron"]) == (None, "", "30 8 * * *")
    for wrong, where in (
        ((), "--cron"),
        (("--cron", "61 * * * *"), "--cron"),
        (("--cron", ""), "--cron"),
        (("--zone", "No/Where"), "--zone"),
        (("--notify", "nowhere"), "--notify"),
        (("--input", "a", "--no-input"), "--input"),
    ):
        refused = remote.run(*edit, *wrong, "--json")
        assert (refused.code, refused.json["error"]["where"]) == (2, where), refused
    webhook = next(one["id"] for one in listed if one["kind"] == "webhook")
    assert remote.run("flow", "schedule", "edit", webhook, "--input", "b", "--json").json["input_value"] == "b"
    times = remote.run("flow", "schedule", "edit", webhook, "--cron", "0 7 * * *", "--json")
    assert times.json["error"]["message"] == "A webhook has no times."
    assert remote.run("flow", "schedule", "edit", "none", "--zone", "UTC", "--json").code == 1
    assert remote.run("flow", "schedule", "remove", made["id"]).code == 0
    assert len(remote.run("flow", "schedule", "list", "--json").json["schedules"]) == 1


def test_a_batch_at_a_server_is_that_of_the_flow_as_it_is(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = stored(serve, echo, tmp_path)
    (tmp_path / "inputs.jsonl").write_text('"a"\n"b"\n')
    headers = {"Authorization": f"Bearer {remote.token}"}
    [entry] = httpx.get(f"{remote.url}/api/v1/flows", headers=headers).json()["flows"]
    batch = ("flow", "run", entry["id"], "--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out", "--json")
    first = remote.run(*batch)
    assert (first.code, first.json["done"]) == (0, 2), first
    assert remote.run(*batch).json["id"] == first.json["id"]
    address, changed = f"{remote.url}/api/v1/flows/{entry['id']}", {**echo, "name": "Other"}
    assert httpx.put(address, json=changed, headers={**headers, "If-Match": '"1"'}).status_code == 200
    other = remote.run(*batch)
    assert other.json["id"] != first.json["id"]
    assert other.json["done"] == 2


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
