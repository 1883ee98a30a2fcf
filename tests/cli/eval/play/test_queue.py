"""`wirewright eval run --queue`: workers play, with the verdicts of one machine."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Wirewright
from tests.databases.postgres import Cluster
from tests.databases.stored import query

ROOT = Path(__file__).parents[4]
PLAYED = ("--scenario", "echo", "--scenario", "edit-template", "--scenario", "service-fetch", "--repeats", "2")


@contextmanager
def workers(python: Path, number: int) -> Generator[None]:
    """Workers for evaluations, as processes of the command."""
    command = (python, "-m", "cli.main", "worker", "--queues", "evals", "--places", "1", "--json")
    started = [
        subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(number)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert b'"working"' in process.stdout.readline()
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            assert process.wait(60) == 0


def verdicts(summary: Any) -> list[tuple[Any, ...]]:
    """What does not depend on the speed of machines."""
    return [
        (one["scenario"], one["repeat"], one["passed"], one["harness_error"], [tuple(s.items()) for s in one["scores"]])
        for one in summary["attempts"]
    ]


@pytest.mark.engine
@pytest.mark.parametrize("player", ["oracle"])
def test_workers_give_the_verdicts_of_one_machine(
    wirewright: Wirewright,
    warm_engine: None,
    postgres: Cluster,
    python_command: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    player: str,
) -> None:
    url = postgres.schema()
    monkeypatch.setenv("WIREWRIGHT_DATABASE", url)
    monkeypatch.setenv("WIREWRIGHT_SECRET_KEY", "k" * 40)  # as on machines that share a database
    here = wirewright("eval", "run", "--player", player, *PLAYED, "--json")
    with workers(python_command, 2):
        there = wirewright("eval", "run", "--player", player, *PLAYED, "--queue", "--out", tmp_path / "a", "--json")
        assert verdicts(there.json) == verdicts(here.json)
        assert (there.code, there.json["not_played"]) == (here.code, 0)
        assert len((tmp_path / "a").read_text().splitlines()) == 6
        assert query(url, "select count(*) from jobs") == [(0,)]
        again = wirewright(
            "eval", "run", "--player", player, *PLAYED, "--queue", "--resume", "--out", tmp_path / "a", "--json"
        )
        assert verdicts(again.json) == verdicts(here.json)


def test_what_workers_cannot_play_is_refused(
    wirewright: Wirewright, catalogue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.engine.ready_catalogue", lambda: catalogue)
    done = wirewright("eval", "run", "--scenario", "echo", "--queue", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "no_workers")
    local = wirewright("eval", "run", "--scenario", "echo", "--player", "python:json:dumps", "--queue", "--json")
    assert local.json["error"]["code"] == "local_player"
