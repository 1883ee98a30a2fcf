"""The data folder is closed to other users, also what an earlier version left open; what is not ours stays as it is."""

import os
import stat
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.files.private import close_data_folder, private_data_folder
from server.settings import ServerSettings
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant


def modes(folder: Path) -> dict[str, int]:
    """The permissions of everything in a folder."""
    return {path.relative_to(folder).as_posix(): stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}


@pytest.fixture(autouse=True)
def careless() -> Generator[None]:
    """A process whose new files everyone can read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.anyio
async def test_a_server_opens_nothing_to_others_and_closes_what_was_open(
    catalogue: Catalogue, echo_flow: dict[str, object]
) -> None:
    data = ServerSettings().data
    for _ in range(2):
        async with serving(assistant(catalogue, memory=None)) as live:
            assert (await live.client.post(FLOWS, json=echo_flow)).status_code == 201
            await live.client.put("/api/v1/providers/groq", json={"api_key": "k"})
            await live.client.put("/api/v1/variables/A_KEY", json={"value": "v"})
            await live.client.post("/api/v1/files", files={"file": ("a/b.txt", b"hello")})
            found = modes(data)
            assert {"wirewright.db", "wirewright.db-wal", "token", "secret.key"} <= found.keys()
            assert {name: oct(mode) for name, mode in found.items() if mode & 0o077} == {}
            assert stat.S_IMODE(data.stat().st_mode) == 0o700
        for path in (data, *data.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)


@pytest.fixture
def echo_flow() -> dict[str, object]:
    return {"name": "Empty", "data": {"nodes": [], "edges": []}}


@pytest.mark.anyio
async def test_a_database_elsewhere_is_closed_and_its_folder_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    file = tmp_path / "shared" / "w.db"
    for _ in range(2):
        database = Database(f"sqlite+aiosqlite:///{file}")
        await database.open()
        assert {name for name, mode in modes(tmp_path / "shared").items() if mode & 0o077} == set()
        await database.aclose()
        file.chmod(0o644)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o755


def test_what_is_not_ours_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "elsewhere").write_text("x")
    (tmp_path / "elsewhere").chmod(0o644)
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    close_data_folder(tmp_path)
    assert stat.S_IMODE((tmp_path / "program").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o644


def test_a_folder_that_everyone_shares_stays_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    private_data_folder(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_a_folder_that_does_not_exist_is_left_alone(tmp_path: Path) -> None:
    close_data_folder(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_file_that_vanishes_while_its_folder_is_closed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wirewright.db").touch()
    found = [tmp_path / "wirewright.db-shm", tmp_path / "wirewright.db"]

    def listed(_: Path) -> Iterator[Path]:
        return iter(found)

    monkeypatch.setattr(Path, "iterdir", listed)
    close_data_folder(tmp_path)
    assert stat.S_IMODE((tmp_path / "wirewright.db").stat().st_mode) == 0o600
