"""Each user's folder: always the same for one, never the same for two, and no secret given away."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.files.folders import KEY_FILE, LOCAL_USER, AnonymousUser, UserFolderError, holds_only, user_folder
from runtime.files.store import UserFiles


def test_a_user_has_one_folder_and_another_user_another(tmp_path: Path) -> None:
    alice, bob = user_folder(tmp_path, "alice"), user_folder(tmp_path, "bob")
    assert alice == user_folder(tmp_path, "alice")
    assert alice != bob
    assert alice.parent == bob.parent == tmp_path / "users"
    assert len(alice.name) == 32
    assert "alice" not in str(alice.relative_to(tmp_path))


def test_names_differ_between_installations(tmp_path: Path) -> None:
    assert user_folder(tmp_path / "a", "alice").name != user_folder(tmp_path / "b", "alice").name


def test_the_local_user_is_a_user(tmp_path: Path) -> None:
    assert user_folder(tmp_path, LOCAL_USER).is_dir()


@pytest.mark.parametrize("nobody", [None, "", "  ", "\n"])
def test_anonymous_is_refused(tmp_path: Path, nobody: str | None) -> None:
    with pytest.raises(AnonymousUser) as refusal:
        user_folder(tmp_path, nobody)
    assert refusal.value.fix == "Repeat the request with a user id."
    assert list(tmp_path.iterdir()) == []


def test_secret_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = user_folder(tmp_path, "alice")
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_all_agree_when_many_are_first_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(user_folder, [tmp_path] * 32, ["alice"] * 32))
    assert len(found) == 1
    assert {path.name for path in tmp_path.iterdir()} == {KEY_FILE, "users"}


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = user_folder(tmp_path / "data", "alice")
    folder.rmdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(UserFolderError) as refusal:
        user_folder(tmp_path / "data", "alice")
    assert str(tmp_path) not in str(refusal.value)


def test_a_damaged_secret_is_reported_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(UserFolderError, match="damaged"):
        user_folder(tmp_path, "alice")
    assert (tmp_path / KEY_FILE).read_bytes() == b"short"


@given(user=st.text(min_size=1, max_size=40).filter(lambda text: text.strip() != ""))
@settings(max_examples=40)
def test_whatever_the_id_is_the_folder_stays_inside(tmp_path: Path, user: str) -> None:
    folder = user_folder(tmp_path, user)
    assert folder.parent == tmp_path / "users"
    assert folder.name.isalnum()


def test_a_folder_is_known_to_hold_nothing_only_while_that_is_so(tmp_path: Path) -> None:
    files = UserFiles(tmp_path, "alice")
    assert not files.is_known_empty, "nobody has looked yet"
    folder = user_folder(tmp_path, "alice")
    (folder / ".components").mkdir()
    assert files.is_known_empty
    assert holds_only(tmp_path, "alice", inside=".components")
    assert not holds_only(tmp_path, "alice"), "the folder of components is in it"
    (folder / ".components" / "one.py").write_text("")
    assert not holds_only(tmp_path, "alice", inside=".components")
    files.write("notes/a.md", "text")
    assert not files.is_known_empty
    assert not UserFiles(tmp_path, "bob").is_known_empty


def test_a_folder_that_is_gone_may_hold_anything(tmp_path: Path) -> None:
    user_folder(tmp_path, "alice").rmdir()
    assert not UserFiles(tmp_path, "alice").is_known_empty
