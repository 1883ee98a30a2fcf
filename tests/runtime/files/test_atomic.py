"""Files that are written as a whole or not at all."""

import os
import stat
import threading
from pathlib import Path

import pytest

from runtime.files.atomic import read_regular, write_atomically


def test_a_file_is_replaced_as_a_whole_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"kept")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"kept", b"new", False)


def test_the_old_file_stays_and_nothing_is_left_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_first_of_several_writers_wins_when_none_may_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "key"
    contents = [bytes([number]) * 32 for number in range(8)]
    threads = [
        threading.Thread(target=write_atomically, args=(path, content), kwargs={"overwrite": False})
        for content in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = path.read_bytes()
    assert kept in contents
    write_atomically(path, b"late", overwrite=False)
    assert path.read_bytes() == kept
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_special_files_are_not_read(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_bytes(b"content")
    link.symlink_to(target)
    os.mkfifo(pipe)
    assert read_regular(target, 4) == b"cont"
    for path in (link, pipe, tmp_path, tmp_path / "missing"):
        with pytest.raises(OSError):
            read_regular(path, 4)
