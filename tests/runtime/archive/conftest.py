"""An installation with something in every table and every folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases.postgres import Cluster


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str, str], str]:
    """Makes the URL of an empty database of a kind."""

    def made(kind: str, name: str) -> str:
        if kind == "sqlite":
            return f"sqlite+aiosqlite:///{tmp_path / name / 'wirewright.db'}"
        cluster: Cluster = request.getfixturevalue("postgres")
        return cluster.schema()

    return made
