"""What the command's tests share: running it in this process, on an excerpt of the catalogue."""

import io
import json
import shutil
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from cli.main import run
from flows.catalogue import Catalogue
from tests.shared.flow_texts import LOUDER
from tests.shared.stand_ins import StandInRunner

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        (line,) = self.out.splitlines()
        return json.loads(line)

    @property
    def lines(self) -> list[Any]:
        """The documents on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


Wirewright = Callable[..., Done]


@pytest.fixture
def wirewright(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Wirewright:
    """Runs the command: arguments, and bytes for its standard input."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return call


@pytest.fixture
def excerpt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds an excerpt of the catalogue and no engine."""
    cache = tmp_path / "cache"
    cache.mkdir()
    shutil.copyfile(ROOT / "tests" / "flows" / "data" / "catalogue.json", cache / "catalogue.json")
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(cache))
    return cache


@pytest.fixture
def louder(tmp_path: Path) -> Path:
    """A file with the spec of a small flow."""
    path = tmp_path / "louder.flow"
    path.write_text(LOUDER, encoding="utf-8")
    return path


@pytest.fixture
def louder_json(louder: Path, excerpt: Path, wirewright: Wirewright, tmp_path: Path) -> Path:
    """The same flow as Langflow JSON."""
    path = tmp_path / "louder.json"
    assert wirewright("flow", "build", louder, "--out", path).code == 0
    return path


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue, excerpt: Path) -> StandInRunner:
    """The assistant of the command, with a stand-in for the engine."""
    stand_in = StandInRunner()

    @asynccontextmanager
    async def opened(settings: AssistantSettings) -> AsyncGenerator[Assistant]:
        assistant = Assistant(settings, stand_in, catalogue=catalogue)
        try:
            yield assistant
        finally:
            await assistant.aclose()

    async def nothing() -> None:
        pass

    monkeypatch.setattr(Assistant, "open", opened)
    monkeypatch.setattr("cli.assistant.install", nothing)
    return stand_in
