"""Recorded runs of the rounds' flows: what a run gave and wrote, by flow, input, files and scenario.

The addresses of services differ from one play to the next: in keys and recordings they stand as `http://service-0`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

from evals.scenario import Scenario
from flows.document import Flow
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

RECORDED: Final = Path(__file__).parent / "data" / "rounds" / "recorded.json.gz"
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+")


class Recordings:
    """Runs by key, read from a file; those that are made are added."""

    def __init__(self, path: Path = RECORDED) -> None:
        self._path = path
        self.runs: dict[str, Any] = {}
        if path.exists():
            self.runs = json.loads(gzip.decompress(path.read_bytes()))

    def save(self, keys: set[str]) -> None:
        """Write the runs of these keys."""
        kept = {key: self.runs[key] for key in sorted(keys)}
        self._path.write_bytes(gzip.compress(json.dumps(kept, ensure_ascii=False).encode(), mtime=0))


class RecordedRunner:
    """A runner whose runs are taken from recordings where they are there; everything else is the runner's own.

    Args:
        runner: runs what is not recorded; None refuses to.
        scenario: whose models and services decide what a run gives.
        version: of the engine.
    """

    def __init__(self, runner: FlowRunner | None, scenario: Scenario, version: str, recordings: Recordings) -> None:
        self._runner = runner
        self._recordings = recordings
        self._conditions = [version, scenario.model_dump_json(include={"models", "services"})]
        self.used: set[str] = set()

    state = "ready"
    failure = None

    async def ready(self, timeout: float | None = None) -> bool:
        """Recorded runs need no engine."""
        return self._runner is None or await self._runner.ready(timeout)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Give what a run gave, and write what it wrote."""
        given = json.dumps([flow.to_json(), text, _contents(options.files)], ensure_ascii=False)
        addresses = list(dict.fromkeys(_ADDRESS.findall(given)))
        conditions = json.dumps(self._conditions)
        key = hashlib.sha256(f"{_plain(given, addresses)}{conditions}".encode()).hexdigest()[:24]
        self.used.add(key)
        known = self._recordings.runs.get(key)
        if known is None:
            assert self._runner is not None, "this run is not recorded: see test_rounds.py"
            result = await self._runner.execute(flow, text, options)
            written = {file.path: options.files.read(file.path) for file in result.files} if options.files else {}
            plain = _plain(json.dumps([result.to_json(), written], ensure_ascii=False), addresses)
            self._recordings.runs[key] = json.loads(plain)
            return result
        told = json.dumps(known, ensure_ascii=False)
        for number, address in enumerate(addresses):
            told = told.replace(f"http://service-{number}", address)
        result, written = json.loads(told)
        for path, content in written.items():
            assert options.files is not None
            options.files.write(path, content)
        return RunResult.from_json(result)


def _plain(text: str, addresses: list[str]) -> str:
    for number, address in enumerate(addresses):
        text = text.replace(address, f"http://service-{number}")
    return text


def _contents(files: UserFiles | None) -> dict[str, str]:
    return {} if files is None else {path: files.read(path) for path, _ in files.listing()}
