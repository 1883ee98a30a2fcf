"""Two servers on one SQLite file: the second is refused, by a lock that ends with its process; commands go on."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.main import run
from runtime.database.backends.serving import AlreadyServed, hold_for_serving
from server.serve import CannotServe, serve
from server.settings import ServerSettings
from tests.databases.postgres import Cluster

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
from runtime.database.backends.serving import hold_for_serving
lock = hold_for_serving(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_server(url: str) -> Generator[subprocess.Popen[str]]:
    """A process that has the lock of a server."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize("name", ["wirewright.db", "link.db"])
def test_a_second_server_is_refused_until_the_first_is_dead(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ServerSettings(port=0)
    settings.data.mkdir()
    (settings.data / "link.db").symlink_to(settings.data / "wirewright.db")
    with another_server(f"sqlite+aiosqlite:///{settings.data / name}") as first:
        with pytest.raises(CannotServe) as refused:
            serve(settings, lambda _: None)
        assert "Another server" in refused.value.message
        assert "DATABASE_URL" in refused.value.fix
        assert run(["users", "add", "ada"]) == 0, "commands need no lock"
        assert run(["serve", "--port", "0", "--json"]) == 1
        assert "cannot_serve" in capsys.readouterr().out
        first.kill()
        first.wait()
        lock = hold_for_serving(settings.database_url)
        assert lock is not None
        lock.release()


def test_servers_of_different_files_and_of_postgres_do_not_meet(tmp_path: Path, postgres: Cluster) -> None:
    first = hold_for_serving(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    second = hold_for_serving(f"sqlite+aiosqlite:///{tmp_path / 'b.db'}")
    assert first is not None
    assert second is not None
    with pytest.raises(AlreadyServed):
        hold_for_serving(f"sqlite:///{tmp_path / 'a.db'}")
    url = postgres.schema()
    assert (hold_for_serving(url), hold_for_serving(url)) == (None, None)
    first.release()
    second.release()


def test_a_server_does_not_start_on_a_postgres_with_an_earlier_schema(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    from tests.databases.earlier import at_revision

    url = postgres.schema()
    asyncio.run(at_revision(url, "0005", tmp_path))
    monkeypatch.setenv("DATABASE_URL", url.replace("postgresql+psycopg", "postgres"))
    with pytest.raises(CannotServe) as refused:
        serve(ServerSettings(port=0), lambda _: None)
    assert "0005" in refused.value.message
    assert "wirewright migrate" in refused.value.fix


def test_a_server_does_not_start_without_its_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:hush@127.0.0.1:1/nothing")
    with pytest.raises(CannotServe) as refused:
        serve(ServerSettings(port=0), lambda _: None)
    assert "not reachable" in refused.value.message
    assert "hush" not in refused.value.message + refused.value.fix
