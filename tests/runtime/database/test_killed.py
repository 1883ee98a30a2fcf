"""Processes that are killed while they write or migrate: what was acknowledged is there, and the next start goes on."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.database import migrations, schema
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.schema import HEAD
from tests.databases.earlier import at_revision
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[3]

WRITE = """
import asyncio, sys
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.runs import RunRows
from runtime.sessions.run_entry import LoggedRun, RunEntry

async def write(database, task):
    conversations, runs, number = ConversationRows(database), RunRows(database), 0
    while True:
        name = f"{sys.argv[2]}-{task}-{number}"
        await conversations.save("u", name, "{}", 10**6)
        print("conversations", name, flush=True)
        entry = RunEntry(id=name, flow="f", name="n", source="http", input="i" * 2000, output=None, error=None,
                         seconds=1.0, input_tokens=1, output_tokens=1)
        await runs.add([LoggedRun(owner="u", entry=entry)], [], 10**6)
        print("runs", name, flush=True)
        number += 1

async def main():
    database = Database(sys.argv[1])
    await asyncio.gather(*(write(database, task) for task in range(4)))

asyncio.run(main())
"""


async def test_no_acknowledged_write_is_lost_when_its_process_is_killed(database_url: str) -> None:
    """A process writes in a loop from four tasks, and says what was acknowledged; it is killed wherever it is then."""
    acknowledged: set[tuple[str, ...]] = set()
    for life, lines in enumerate((1, 40, 97)):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITE, database_url, str(life)), cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(lines):
            acknowledged.add(tuple((await process.stdout.readline()).decode().split()))
        process.kill()
        rest = (await process.stdout.read()).decode()
        acknowledged |= {tuple(line.split()) for line in rest.splitlines(keepends=True) if line.endswith("\n")}
        await process.wait()
    assert len(acknowledged) >= 138
    stored = {("conversations", name) for (name,) in query(database_url, "select session from conversations")}
    stored |= {("runs", name) for (name,) in query(database_url, "select id from runs")}
    assert acknowledged - stored == set()
    database = Database(database_url)  # and it goes on being used
    await ConversationRows(database).save("u", "after", "{}", 10**6)
    await database.aclose()


OPEN = """
import asyncio, sys
from pathlib import Path
from runtime.database import migrations, schema
from runtime.database.database import Database

migrations.FOLDER, schema.HEAD = Path(sys.argv[2]), sys.argv[3]

async def main():
    database = Database(sys.argv[1], migrates=True)
    await database.open()
    await database.aclose()

asyncio.run(main())
"""

STEP = '''"""Step {number}."""
import os, signal
from alembic import op
import sqlalchemy as sa
revision, down_revision = "{revision}", "{before}"

def upgrade():
    op.add_column("flows", sa.Column("column_{number}", sa.String()))
    op.execute("UPDATE flows SET column_{number} = name")
    {kill}
    op.create_table("table_{number}", sa.Column("name", sa.String()))
    op.execute("INSERT INTO table_{number} SELECT name FROM flows")
'''
KILL = "os.kill(os.getpid(), signal.SIGKILL)"


def later_migrations(folder: Path, killed_in: int | None) -> Path:
    """The migrations with three more, one of which may end its process."""
    made = Path(shutil.copytree(migrations.FOLDER, folder))
    before = HEAD
    for number in range(3):
        revision = f"later_{number}"
        kill = KILL if number == killed_in else "pass"
        step = STEP.format(number=number, revision=revision, before=before, kill=kill)
        (made / "versions" / f"later_{number}.py").write_text(step)
        before = revision
    return made


@pytest.mark.parametrize("killed_in", [0, 2])
async def test_a_migration_whose_process_is_killed_is_done_by_the_next_start(
    killed_in: int, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await at_revision(database_url, HEAD, tmp_path)
    flow = (
        "insert into flows (id, owner, name, node_count, edge_count, version, updated_at, document) "
        "values ('f', 'ada', 'mine', 0, 0, 1, '2026-01-01', '{}')"
    )
    query(database_url, flow)
    broken = later_migrations(tmp_path / "broken", killed_in)
    command = [sys.executable, "-c", OPEN, database_url, str(broken), "later_2"]
    killed = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, check=False)
    assert killed.returncode == -9
    assert query(database_url, "select version_num from alembic_version") == [(HEAD,)], "all of them or none"
    whole = later_migrations(tmp_path / "whole", None)
    monkeypatch.setattr(migrations, "FOLDER", whole)
    monkeypatch.setattr(schema, "HEAD", "later_2")
    database = Database(database_url, migrates=True)
    await database.open()
    await database.aclose()
    assert query(database_url, "select version_num from alembic_version") == [("later_2",)]
    assert query(database_url, "select column_0, column_1, column_2 from flows") == [("mine",) * 3]
    for number in range(3):
        assert query(database_url, f"select name from table_{number}") == [("mine",)]  # noqa: S608  (a number)


async def test_data_of_version_0_1_is_taken_over_after_a_start_that_was_killed(tmp_path: Path) -> None:
    """The start is killed after the backup, before anything is stored."""
    data = Path(shutil.copytree(ROOT / "tests" / "compatibility" / "v0_1" / "data", tmp_path / "data"))
    url = f"sqlite+aiosqlite:///{data / 'wirewright.db'}"
    flows = query(url, "select id, name from flows order by id")
    script = (
        "import os, signal, sys, asyncio\nfrom pathlib import Path\nfrom runtime.database import schema\n"
        "from runtime.database.database import Database\n"
        "schema.copy_flows = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(Database(sys.argv[1], Path(sys.argv[2])).open())\n"
    )
    command = [sys.executable, "-c", script, url, str(data)]
    assert (await asyncio.to_thread(subprocess.run, command, cwd=ROOT, check=False)).returncode == -9
    assert os.path.exists(data / "wirewright.db.v0.1.bak")  # noqa: ASYNC240, PTH110  (of a test)
    database = Database(url, data)
    await database.open()
    await database.aclose()
    assert query(url, "select id, name from flows order by id") == flows
