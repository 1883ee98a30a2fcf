"""Users' files: kept apart, inside their folder, whole, and within limits."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.files import store
from runtime.files.folders import user_folder
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.files.upload import FileLimits


@pytest.fixture
def files(tmp_path: Path) -> UserFiles:
    return UserFiles(tmp_path, "alice")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return user_folder(tmp_path, "alice")


def test_what_is_written_is_read_back_with_its_line_ends(files: UserFiles) -> None:
    text = "eins\r\nzwei\n\u2028drei"
    written = files.write("docs/a.txt", text)
    assert (written.path, written.size, written.new) == ("docs/a.txt", len(text.encode()), True)
    assert files.read("docs\\a.txt") == text
    assert not files.write("docs/a.txt", "").new
    assert files.read("docs/a.txt") == ""


def test_a_missing_file_is_named_in_full_when_its_folder_is_missing_too(files: UserFiles) -> None:
    for act in (files.read, files.remove):
        with pytest.raises(FileRefused, match=r"There is no a/b/c\.md"):
            act("a/b/c.md")


def test_each_user_has_files_of_their_own(tmp_path: Path) -> None:
    UserFiles(tmp_path, "alice").write("a.md", "hers")
    with pytest.raises(FileRefused, match=r"There is no a\.md"):
        UserFiles(tmp_path, "bob").read("a.md")
    assert UserFiles(tmp_path, "bob").listing() == []
    names = [path.name for path in (tmp_path / "users").iterdir()]
    assert len(names) == 2
    assert not [name for name in names if "alice" in name or "bob" in name]


@pytest.mark.parametrize("user", [None, "", "  "])
def test_nobody_in_particular_has_no_files(tmp_path: Path, user: str | None) -> None:
    with pytest.raises(FileRefused, match="no user"):
        UserFiles(tmp_path, user).write("a.md", "x")


def test_an_edit_replaces_one_place_or_all_of_them(files: UserFiles) -> None:
    files.write("a.md", "one two one")
    with pytest.raises(FileRefused, match="occurs 2 times"):
        files.edit("a.md", "one", "1")
    with pytest.raises(FileRefused, match="does not occur"):
        files.edit("a.md", "three", "3")
    with pytest.raises(FileRefused, match="does not occur"):
        files.edit("a.md", "", "3")
    assert files.edit("a.md", "two", "2")[1] == "one 2 one"
    written, content = files.edit("a.md", "one", "1", every=True)
    assert (written.size, content, files.read("a.md")) == (5, "1 2 1", "1 2 1")


Act = Callable[[UserFiles, str], object]
ACTS: list[Act] = [
    lambda files, path: files.read(path),
    lambda files, path: files.write(path, "x"),
    lambda files, path: files.edit(path, "s", "x"),
]


@pytest.mark.parametrize("act", ACTS, ids=["read", "write", "edit"])
@pytest.mark.parametrize("path", ["link.md", "linked/secret.md", "hard.md", "dangling.md", "pipe"])
def test_no_link_is_followed(files: UserFiles, folder: Path, tmp_path: Path, act: Act, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = outside / "secret.md"
    secret.write_text("secret")
    (folder / "link.md").symlink_to(secret)
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    (folder / "hard.md").hardlink_to(secret)
    (folder / "dangling.md").symlink_to(outside / "new.md")
    os.mkfifo(folder / "pipe")
    with pytest.raises(FileRefused) as refused:
        act(files, path)
    assert str(tmp_path) not in refused.value.message
    assert secret.read_text() == "secret"
    assert [entry.name for entry in outside.iterdir()] == ["secret.md"]
    assert files.listing() == []


@pytest.mark.parametrize("act", ACTS, ids=["read", "write", "edit"])
@pytest.mark.parametrize("path", ["../escape.md", "/etc/escape.md", ".components/X.py", "folder", "folder/", "", "no/"])
def test_what_is_not_a_file_of_the_user_is_refused(files: UserFiles, folder: Path, act: Act, path: str) -> None:
    (folder / "folder").mkdir()
    (folder / ".components").mkdir()
    (folder / ".components" / "X.py").write_text("s")
    with pytest.raises(FileRefused):
        act(files, path)
    assert (folder / ".components" / "X.py").read_text() == "s"


def test_reserved_and_unfinished_files_are_not_listed(files: UserFiles, folder: Path) -> None:
    (folder / ".components").mkdir()
    (folder / ".components" / "X.py").write_text("s")
    (folder / ".wirewright-0123").write_text("half")
    files.write("b/c.md", "1")
    files.write("a.md", "22")
    assert files.listing() == [("a.md", 2), ("b/c.md", 1)]
    assert files.listing("b") == [("b/c.md", 1)]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    files: UserFiles, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("a.md", "old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(folder))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileRefused) as refused:
        files.write("a.md", "new")
    monkeypatch.undo()
    assert refused.value.message == "a.md cannot be written: there is no room on the disk."
    assert files.read("a.md") == "old"
    assert [entry.name for entry in folder.iterdir()] == ["a.md"]


def test_files_are_for_their_owner_alone(files: UserFiles, folder: Path) -> None:
    files.write("docs/a.md", "x")
    assert (folder / "docs" / "a.md").stat().st_mode & 0o777 == 0o600
    assert (folder / "docs").stat().st_mode & 0o777 == 0o700


def test_what_would_fill_the_disk_is_refused(files: UserFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SIZE_LIMIT", 10)
    files.limits = FileLimits(file_bytes=1_000, total_bytes=25, files=3)
    with pytest.raises(FileRefused, match="11 bytes"):
        files.write("a.md", "x" * 11)
    for name in ("a", "b"):
        files.write(name, "x" * 10)
    with pytest.raises(FileRefused, match="25 bytes together"):
        files.write("c", "x" * 6)
    with pytest.raises(FileRefused, match="12 bytes"):
        files.edit("a", "x" * 10, "x" * 12)
    files.write("c", "")
    with pytest.raises(FileRefused, match="3 files"):
        files.write("d", "")
    assert files.write("c", "x").size == 1


def test_what_is_not_text_is_refused(files: UserFiles, folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileRefused, match="not a text file"):
        files.read("a.bin")
    with pytest.raises(FileRefused, match="surrogate"):
        files.write("a.md", "\ud800")


def test_edits_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    UserFiles(tmp_path, "alice").write("a.md", "".join(f"<{number}>" for number in range(20)))

    def edit(number: int) -> None:
        UserFiles(tmp_path, "alice").edit("a.md", f"<{number}>", f"({number})")

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert UserFiles(tmp_path, "alice").read("a.md") == "".join(f"({number})" for number in range(20))


@settings(max_examples=60)
@given(
    path=st.one_of(
        st.text(max_size=30),
        st.lists(st.sampled_from(["..", ".", "a", "b.md", "/", "\\", ".components", "link", "~"]), max_size=8).map(
            "".join
        ),
        st.lists(st.sampled_from(["..", "a", "b.md", "link", ".components"]), max_size=5).map("/".join),
    )
)
@pytest.mark.parity("term-file-system-tool")
def test_no_path_whatever_writes_outside_the_folder(tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(exist_ok=True)
    inside = user_folder(tmp_path, "alice")
    if not (inside / "link").is_symlink():
        (inside / "link").symlink_to(outside, target_is_directory=True)
    files = UserFiles(tmp_path, "alice")
    try:
        written = files.write(path, "x")
    except FileRefused:
        pass
    else:
        assert files.read(written.path) == "x"
        assert (inside / written.path).resolve().is_relative_to(inside)
    assert list(outside.iterdir()) == []
    assert {entry.name for entry in tmp_path.iterdir()} <= {"outside", "users", "users.key", "data"}
    assert not (inside / ".components").exists()
