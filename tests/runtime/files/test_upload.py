"""Files of any kind: received piece by piece, whole or not at all, opened, and removed."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.files.folders import user_folder
from runtime.files.names import FileExists, FileMissing, FileRefused
from runtime.files.store import UserFiles
from runtime.files.upload import FileLimits, FileTooLarge


@pytest.fixture
def files(tmp_path: Path) -> UserFiles:
    return UserFiles(tmp_path, "alice")


@settings(max_examples=30)
@given(pieces=st.lists(st.binary(max_size=2_000), max_size=5))
def test_what_arrives_in_pieces_is_read_back_whole(files: UserFiles, pieces: list[bytes]) -> None:
    with files.receive("docs/a.bin") as received:
        for piece in pieces:
            received.write(piece)
    assert files.read_bytes("docs/a.bin") == b"".join(pieces)
    assert files.listing() == [("docs/a.bin", received.size)]


def test_an_interrupted_upload_leaves_the_old_file(files: UserFiles, tmp_path: Path) -> None:
    files.write("a.txt", "old")
    with pytest.raises(ConnectionError), files.receive("a.txt") as received:
        received.write(b"half")
        raise ConnectionError
    assert files.read("a.txt") == "old"
    assert [each.name for each in user_folder(tmp_path, "alice").iterdir()] == ["a.txt"]


def test_a_file_is_not_replaced_unless_that_is_wanted(files: UserFiles) -> None:
    files.write("a.txt", "old")
    with pytest.raises(FileExists), files.receive("a.txt", overwrite=False) as received:
        received.write(b"new")
    assert files.read("a.txt") == "old"


def test_too_many_bytes_are_refused_as_they_arrive(files: UserFiles) -> None:
    files.limits = FileLimits(file_bytes=10, total_bytes=100, files=3)
    with pytest.raises(FileTooLarge), files.receive("a.bin") as received:
        received.write(b"12345")
        received.write(b"678901")
    assert files.listing() == []


def test_removing_a_file_removes_the_folders_that_it_leaves_empty(files: UserFiles, tmp_path: Path) -> None:
    files.write("a/b/c.txt", "x")
    files.write("a/d.txt", "y")
    assert files.remove("a/b/c.txt") == 1
    assert [each.name for each in (user_folder(tmp_path, "alice") / "a").iterdir()] == ["d.txt"]
    with pytest.raises(FileMissing):
        files.remove("a/b/c.txt")


def test_a_link_is_neither_opened_nor_removed_nor_replaced(files: UserFiles, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs")
    (user_folder(tmp_path, "alice") / "link.txt").symlink_to(outside)
    with pytest.raises(FileRefused):
        files.read_bytes("link.txt")
    with pytest.raises(FileRefused):
        files.remove("link.txt")
    with pytest.raises(FileRefused), files.receive("link.txt") as received:
        received.write(b"mine")
    assert outside.read_text() == "theirs"


def test_what_a_killed_process_left_behind_is_deleted_later(files: UserFiles, tmp_path: Path) -> None:
    folder = user_folder(tmp_path, "alice")
    old, young = folder / ".wirewright-old", folder / ".wirewright-young"
    for left in (old, young):
        left.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200, time.time() - 7_200))
    with files.receive("a.txt") as received:
        received.write(b"x")
    assert (old.exists(), young.exists()) == (False, True)
