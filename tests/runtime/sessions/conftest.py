"""Flows that remember, and where their sessions are kept."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.database.database import Database
from runtime.sessions.store import FlowSessions
from tests.shared.flow_texts import HISTORY, flow_of


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncGenerator[FlowSessions]:
    """The sessions in a database of the test's own."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")
    yield FlowSessions(database)
    await database.aclose()


@pytest.fixture
def history(installed_catalogue: Catalogue) -> Flow:
    """A flow that answers with the messages before, and the one now."""
    return flow_of(HISTORY, installed_catalogue)
