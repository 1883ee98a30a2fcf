"""What the tests of jobs share."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from runtime.database.database import Database


@pytest.fixture
async def database(database_url: str, tmp_path: Path) -> AsyncGenerator[Database]:
    """An empty database: of SQLite, and of Postgres."""
    database = Database(database_url, tmp_path)
    yield database
    await database.aclose()
