"""What version 0.1 left behind, as copies that a test may change."""

import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from scripts.scripted_provider import Reply, ScriptedProvider
from tests.cli.conftest import Wirewright, excerpt, wirewright

__all__ = ["excerpt", "wirewright"]  # fixtures of the command's tests

V0_1 = Path(__file__).parent / "v0_1"
"""What is committed: read only."""


@dataclass
class Provider:
    """A model provider on loopback.

    Attributes:
        replies: what it answers, in order.
        asked: the bodies of the requests.
        keys: what the requests were authorised with.
    """

    replies: list[Reply] = field(default_factory=list[Reply])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: set[str] = field(default_factory=set[str])

    def tool_results(self) -> list[str]:
        """What the tools answered, as the last request shows it."""
        return [message["content"] for message in self.asked[-1]["messages"] if message["role"] == "tool"]


@pytest.fixture
def data(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data folder, in the place where it is looked for."""
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "file")
    shutil.copytree(V0_1 / "data", data_folder)
    return data_folder


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    """The provider whose key is stored, at another address than it had when its key was stored."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    scripted = Provider()

    def reply(body: dict[str, Any]) -> Reply:
        scripted.asked.append(body)
        return scripted.replies.pop(0)

    server = ScriptedProvider(reply)
    inner = server.app

    async def seen(scope: Any, receive: Any, send: Any) -> None:
        scripted.keys |= {value.decode() for name, value in scope["headers"] if name == b"authorization"}
        await inner(scope, receive, send)

    server.app = seen  # pyright: ignore[reportAttributeAccessIssue]  (an ASGI application like the one inside)
    async with server.serve() as url:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", url)
        yield scripted


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    """A copy of the journals and of what was played."""
    return Path(shutil.copytree(V0_1 / "journals", tmp_path / "journals"))


@pytest.fixture
def evaluate(wirewright: Wirewright, journals: Path) -> Callable[..., Any]:
    """Runs `wirewright eval` with the scenarios of the journals."""
    return lambda *arguments: wirewright("eval", "--scenarios", journals / "scenarios", *arguments)
