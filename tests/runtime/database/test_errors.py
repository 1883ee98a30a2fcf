"""What failures of databases mean for the user."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from runtime.database.errors import (
    POSTGRES_KINDS,
    SQLITE_KINDS,
    DatabaseFull,
    DatabaseSlow,
    DriverMissing,
    StoreUnavailable,
    unavailable,
)

ROOT = Path(__file__).parents[3]

LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable

async def main():
    database = Database(sys.argv[1])
    rows = ConversationRows(database)
    await rows.save("u", "before", "{}", 100)
    largest = max(path.stat().st_size for path in Path(sys.argv[2]).glob("w.db*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 4096, resource.RLIM_INFINITY))
    try:
        await rows.save("u", "large", "x" * 500_000, 100)
    except StoreUnavailable as failure:
        print(type(failure).__name__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await rows.save("u", "after", "{}", 100)
    print([await rows.load("u", name) for name in ("before", "large", "after")])
    await database.aclose()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of the size of files")
def test_a_file_that_may_not_grow_is_told_and_used_on(tmp_path: Path) -> None:
    """The system refuses the write itself, as on a full disk."""
    command = [sys.executable, "-c", LIMITED, f"sqlite+aiosqlite:///{tmp_path / 'w.db'}", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.splitlines() == ["DiskFails", "['{}', None, '{}']"], done.stderr


@pytest.mark.parametrize(
    "kind", sorted({*SQLITE_KINDS.values(), *POSTGRES_KINDS.values(), DriverMissing}, key=lambda kind: kind.__name__)
)
def test_every_failure_has_a_message_and_a_fix(kind: type[StoreUnavailable]) -> None:
    made = kind()
    assert made.message.endswith(".")
    assert made.fix
    assert made.fix != StoreUnavailable().fix


def of_postgres(state: str) -> Exception:
    error = Exception("could not extend file")
    error.sqlstate = state  # type: ignore[attr-defined]  # as a driver sets it
    return error


def test_the_cause_is_found_behind_what_it_was_wrapped_in() -> None:
    wrapped = RuntimeError("a statement failed")
    wrapped.__cause__ = of_postgres("53100")
    assert isinstance(unavailable(wrapped), DatabaseFull)
    assert isinstance(unavailable(PoolTimeoutError("no connection is free")), DatabaseSlow)
    assert isinstance(unavailable(ModuleNotFoundError("psycopg")), DriverMissing)
    assert type(unavailable(ValueError("anything"))) is StoreUnavailable
    assert type(unavailable(sqlite3.OperationalError("without a code"))) is StoreUnavailable
