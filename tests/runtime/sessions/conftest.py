"""Flows that remember, and where their sessions are kept."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.database.database import Database
from runtime.sessions.store import FlowSessions

HISTORY = """\
name: History
nodes:
  chat: ChatInput
  history: Memory
  prompt: Prompt Template
  answer: ChatOutput
edges:
  history.messages_text -> prompt.before
  chat.message -> prompt.now
  prompt.prompt -> answer.input_value
config:
  prompt.template: "before: {before} now: {now}"
"""


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncGenerator[FlowSessions]:
    """The sessions in a database of the test's own."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")
    yield FlowSessions(database)
    await database.aclose()


@pytest.fixture
def history(installed_catalogue: Catalogue) -> Flow:
    """A flow that answers with the messages before, and the one now."""
    built = build(HISTORY, installed_catalogue)
    assert built.flow is not None, built.faults
    return built.flow
