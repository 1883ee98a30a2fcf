"""Batches that are too large for one request: sent to a server in parts, which are one batch there."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.document import Flow, JsonObject
from runtime.options import RunOptions
from runtime.results import RunError, RunMetrics, RunResult
from tests.cli.jobs.test_batch import Runs, played
from tests.cli.remote.conftest import Remote, Serve

TEXTS = [f"{at:02} {'x' * 400}" for at in range(8)]
LIMIT = 2_000
"""Bytes that the server takes in a request: four of the texts."""


class Batch:
    """A command that runs a batch at a server, which notes the requests for it.

    Attributes:
        remote: the server.
        out: the results.
        sent: the positions of the first inputs of the requests that came.
        failing: the texts whose runs fail.
        proxy_limit: the bytes that a proxy in front of the server lets through.
        lost_at: the request that does not come, of those for parts.
        is_old: whether the server does not know what parts are.
    """

    def __init__(self, serve: Serve, echo: JsonObject, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.remote: Remote = serve()
        self.out = folder / "results.jsonl"
        self.source = folder / "inputs.jsonl"
        self.sent: list[tuple[int, int]] = []
        self.failing: set[str] = set()
        self.proxy_limit = 1_000_000
        self.lost_at = 0
        self.is_old = False
        (folder / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
        assert self.remote.run("flow", "import", folder / "echo.json").code == 0
        self.write(TEXTS)
        execute, handle = self.remote.runner.execute, httpx.HTTPTransport.handle_request

        async def run(flow: Flow, text: str | None, options: RunOptions) -> RunResult:
            await execute(flow, text, options)
            error = RunError(code="crash", message="It broke.") if text in self.failing else None
            metrics = RunMetrics(seconds=0.1, input_tokens=6, output_tokens=4)
            return RunResult(run_id="r", output=text, outputs={}, metrics=metrics, error=error)

        def noted(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
            if not request.url.path.endswith("/batch"):
                return handle(transport, request)
            body = json.loads(request.read())
            if len(request.content) > self.proxy_limit:
                return httpx.Response(413, html="<html><h1>413 Request Entity Too Large</h1></html>", request=request)
            if not body["estimate"]:
                if len(self.sent) + 1 == self.lost_at:
                    raise httpx.ConnectError("refused")
                self.sent.append((body["first"], len(body["inputs"])))
            if self.is_old:
                known = {name: value for name, value in body.items() if name not in ("first", "total")}
                kept = [one for one in request.headers.multi_items() if not one[0].startswith("content-")]
                request = httpx.Request(request.method, request.url, headers=kept, json=known)
            return handle(transport, request)

        monkeypatch.setattr(self.remote.runner, "execute", run)
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", noted)

    def write(self, texts: list[str]) -> None:
        """Write the file of the inputs."""
        self.source.write_text("".join(f"{json.dumps(text)}\n" for text in texts))

    def run(self, *more: str) -> Any:
        """Run it; what it came to."""
        return self.remote.run("flow", "run", "Echo", "--batch", self.source, "--out", self.out, *more, "--json").json

    @property
    def asked(self) -> list[str]:
        """The texts that were run, in order."""
        return sorted(text or "" for _, text in self.remote.runner.asked)

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The results, by position and state."""
        found = [json.loads(line) for line in self.out.read_text().splitlines()]
        return [(line["position"], line["state"]) for line in found]

    @property
    def batches(self) -> list[Any]:
        """What the server knows."""
        return self.remote.run("jobs", "list", "--json").json["batches"]


@pytest.fixture
def batch(serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """A batch of eight inputs, at a server that takes four of them in a request."""
    monkeypatch.setenv("WIREWRIGHT_CHAT_BODY_LIMIT", str(LIMIT))
    return Batch(serve, echo, tmp_path, monkeypatch)


def test_a_batch_that_is_too_large_for_a_request_is_one_batch_in_parts(batch: Batch) -> None:
    done = batch.run()
    assert (done["ok"], done["total"], done["done"], done["tokens"]) == (True, 8, 8, 80), done
    first, *parts = batch.sent
    assert first == (0, 8), "the server is asked for all of it first"
    assert {at for at, _ in parts} == {0, *range(4, 8, 4)}
    assert all(count <= 4 for _, count in parts)
    assert batch.asked == TEXTS
    assert batch.lines == [(at, "done") for at in range(8)]
    assert [(one["id"], one["total"], one["counts"]) for one in batch.batches] == [(done["id"], 8, {"done": 8})]


def test_a_batch_that_was_sent_by_half_is_completed_by_the_same_command_and_nothing_is_run_twice(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.jobs.server_batch.AWAY_SECONDS", 0.0)
    monkeypatch.setattr("cli.jobs.parts.ROOM", LIMIT - 500)
    batch.lost_at = 2
    lost = batch.run()
    assert lost["error"]["code"] == "server_unreachable"
    assert "The same command again" in lost["error"]["fix"]
    [half] = batch.batches
    assert (half["total"], half["ended"], sum(half["counts"].values())) == (8, False, 3)
    batch.lost_at = 0
    done = batch.run()
    assert (done["ok"], done["id"], done["done"]) == (True, half["id"], 8), done
    assert batch.asked == TEXTS
    assert batch.run()["done"] == 8
    assert batch.asked == TEXTS


def test_what_has_failed_in_any_part_is_run_again_alone(batch: Batch) -> None:
    batch.failing = {TEXTS[1], TEXTS[6]}
    first = batch.run()
    assert (first["ok"], first["done"], first["failed"]) == (False, 6, 2)
    assert batch.run()["failed"] == 2
    batch.failing = set()
    again = batch.run("--retry-failed")
    assert (again["ok"], again["id"], again["done"]) == (True, first["id"], 8)
    assert Counter(batch.asked) == {text: 2 if text in (TEXTS[1], TEXTS[6]) else 1 for text in TEXTS}


def test_a_ceiling_is_that_of_all_parts_together(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_JOB_PLACES", "1")
    ended = batch.run("--ceiling-tokens", "50")
    assert (ended["ok"], ended["reason"]) == (False, "The batch has used as many tokens as it may.")
    assert 50 <= ended["tokens"] < 80
    assert ended["done"] + ended["waiting"] == 8
    done = batch.run("--ceiling-tokens", "1000")
    assert (done["ok"], done["id"], done["tokens"]) == (True, ended["id"], 80)
    assert batch.asked == TEXTS


def test_parts_wait_while_as_many_jobs_wait_as_may(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_USER_QUEUED_JOBS", "3")
    monkeypatch.setattr("cli.jobs.server_batch.POLL_SECONDS", 0.01)
    batch = Batch(serve, echo, tmp_path, monkeypatch)
    done = batch.run()
    assert (done["ok"], done["done"]) == (True, 8), done
    assert batch.asked == TEXTS
    assert batch.lines == [(at, "done") for at in range(8)]


def test_parts_are_made_smaller_for_a_proxy_that_takes_less_than_the_server(batch: Batch) -> None:
    batch.proxy_limit = 1_000
    done = batch.run()
    assert (done["ok"], done["total"], done["done"]) == (True, 8, 8), done
    assert {count for _, count in batch.sent} == {1}
    assert batch.asked == TEXTS
    batch.write(["x" * 1_000, "y"])
    refused = batch.run()["error"]
    assert (refused["code"], "limit of the proxy" in refused["fix"]) == ("too_large", True)


def test_nothing_is_run_when_one_input_alone_is_too_large(batch: Batch) -> None:
    batch.write([*TEXTS, "x" * LIMIT])
    refused = batch.run()["error"]
    assert (refused["code"], refused["where"]) == ("too_large", "--batch")
    assert refused["message"].startswith(f"Input 9 of {batch.source} is 2,")
    assert "WIREWRIGHT_CHAT_BODY_LIMIT" in refused["fix"]
    assert (batch.asked, batch.out.exists(), batch.batches) == ([], False, [])


def test_an_estimate_is_that_of_all_parts(batch: Batch) -> None:
    assert batch.run("--estimate")["inputs"] == 8
    batch.write(TEXTS[:2])
    assert batch.run("--estimate")["inputs"] == 2
    assert batch.asked == []


def test_a_server_of_an_earlier_version_which_knows_no_parts_is_left_with_none(batch: Batch) -> None:
    batch.is_old = batch.remote.runner.hangs = True
    refused = batch.run()["error"]
    assert (refused["code"], refused["message"].startswith("The server takes no batch in parts")) == ("too_large", True)
    assert "split -l " in refused["fix"]
    assert [one["reason"] for one in batch.batches] == ["The batch was cancelled."]


def test_a_batch_on_this_machine_may_be_larger_than_a_request(tmp_path: Path) -> None:
    texts = [f"{at:05} {'x' * 900}" for at in range(10_050)]
    (tmp_path / "inputs.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
    assert (tmp_path / "inputs.jsonl").stat().st_size > 8_000_000
    summary = played(tmp_path, runs := Runs(texts[7]), places=8)
    assert (summary["total"], summary["done"], summary["failed"]) == (10_050, 10_049, 1)
    assert sorted(runs.given) == texts
    assert played(tmp_path, again := Runs(), retry_failed=True)["ok"]
    assert again.given == [texts[7]]
