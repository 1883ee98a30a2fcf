"""A Postgres of the tests' own: one throwaway cluster a worker, on a Unix socket, and a new schema for each test.

Postgres refuses to run as root, so that root starts it as `nobody`. Nothing is written durably but what Postgres
itself promises when its process is killed: the machine does not fail during a test.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0]))
FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60")
NEW = ("--no-sync", "-E", "UTF8", "--locale=C.UTF-8", "--no-instructions")
START_SECONDS = 60
_numbers = count(1)


def binaries() -> Path | None:
    """The folder of Postgres's programs: Debian's, or wherever `postgres` is found."""
    found = shutil.which("postgres")
    return BINARIES[-1] if BINARIES else None if found is None else Path(found).parent


def _plain_user() -> dict[str, Any]:
    """How a process is started that may not be root's."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@dataclass
class Cluster:
    """A Postgres server.

    Attributes:
        programs: the folder of its programs.
        folder: its folder, which holds its socket.
    """

    programs: Path
    folder: Path
    _process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @classmethod
    def make(cls, programs: Path) -> "Cluster":
        """Make an empty cluster, and start it."""
        cluster = cls(programs, Path(tempfile.mkdtemp(prefix="wirewright-postgres-")))
        user = _plain_user()
        if user:
            os.chown(cluster.folder, user["user"], user["group"])
        subprocess.run(
            [programs / "initdb", "-D", cluster.data, "-A", "trust", "-U", "wire", *NEW],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=cluster.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            **user,
        )
        cluster.start()
        return cluster

    @property
    def data(self) -> Path:
        """The folder of its data."""
        return self.folder / "data"

    def url(self, schema: str = "public") -> str:
        """The URL of a schema."""
        path = quote(f"-csearch_path={schema}", safe="")
        return f"postgresql+psycopg://wire@/postgres?host={quote(str(self.folder), safe='')}&options={path}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        import psycopg

        settings = [*FAST, "listen_addresses=", f"unix_socket_directories={self.folder}"]
        arguments = [part for setting in settings for part in ("-c", setting)]
        self._process = subprocess.Popen(
            [self.programs / "postgres", "-D", self.data, *arguments],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **_plain_user(),
        )
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(host=str(self.folder), user="wire", dbname="postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < until, "Postgres did not start."
                time.sleep(0.02)
            else:
                return

    def stop(self) -> None:
        """Stop the server at once, as when its machine goes down."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement outside of any transaction; returns its rows."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user="wire", dbname="postgres", autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def schema(self) -> str:
        """The URL of a new schema."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return self.url(name)


@pytest.fixture(scope="session")
def postgres() -> Generator[Cluster]:
    """A Postgres server for all tests of a worker."""
    programs = binaries()
    if programs is None:
        pytest.skip("Postgres is not installed (Debian: apt install postgresql)")
    cluster = Cluster.make(programs)
    yield cluster
    cluster.stop()
    shutil.rmtree(cluster.folder, ignore_errors=True)


@pytest.fixture
def own_postgres() -> Generator[Cluster]:
    """A Postgres server of the test's own, which it may stop."""
    programs = binaries()
    if programs is None:
        pytest.skip("Postgres is not installed (Debian: apt install postgresql)")
    cluster = Cluster.make(programs)
    yield cluster
    cluster.stop()
    shutil.rmtree(cluster.folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: every test that asks for it runs on SQLite and on Postgres."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'w.db'}"
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.schema()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests that are marked `both_databases` on SQLite and on Postgres, which the environment then names."""
    if metafunc.definition.get_closest_marker("both_databases"):
        metafunc.parametrize("storage", ["sqlite", "postgres"], indirect=True)


@pytest.fixture(autouse=True)
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a test stores: in the SQLite file of its data folder, unless it is marked `both_databases`."""
    chosen: str = getattr(request, "param", "sqlite")
    if chosen == "postgres":
        cluster: Cluster = request.getfixturevalue("postgres")
        monkeypatch.setenv("WIREWRIGHT_DATABASE", cluster.schema())
        monkeypatch.setenv("WIREWRIGHT_DURABLE", "0")  # tests of durable turns say that theirs are
    return chosen
