"""The variables that a user keeps: encrypted, for each user alone, whole, and seen by every process."""

import threading
from pathlib import Path

import pytest

from runtime.keychain.master_key import FILE as KEY_FILE
from runtime.keychain.user_variables import BadVariable, UserVariables, VariablesUnavailable


def test_a_kept_value_is_encrypted_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    mine = UserVariables(tmp_path, "ann")
    mine.keep({"SERPER_API_KEY": "s3cret-value", "B": "other"})
    assert (mine.names(), mine.get("SERPER_API_KEY"), mine.get("C")) == (["B", "SERPER_API_KEY"], "s3cret-value", None)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(b"s3cret-value" not in path.read_bytes() for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert "ann" not in str(files)


def test_users_do_not_see_the_variables_of_others(tmp_path: Path) -> None:
    UserVariables(tmp_path, "ann").keep({"A": "value-of-ann"})
    assert UserVariables(tmp_path, "bob").names() == []
    assert not UserVariables(tmp_path, "bob").forget("A")
    assert UserVariables(tmp_path, "ann").forget("A")


def test_nothing_is_created_when_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert UserVariables(tmp_path, "ann").values() == {}
    assert list(tmp_path.iterdir()) == []


def test_none_is_lost_when_several_are_kept_at_once(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=UserVariables(tmp_path, "ann").keep, args=({f"V{number}": f"value {number}"},))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(UserVariables(tmp_path, "ann").names()) == 12


@pytest.mark.parametrize(
    ("name", "value"), [("1A", "x"), ("A B", "x"), ("", "x"), ("A", ""), ("A", "x" * 9000), ("A", "a\nb")]
)
def test_a_bad_name_or_value_is_refused_without_quoting_the_value(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadVariable) as refused:
        UserVariables(tmp_path, "ann").keep({name: value})
    assert value not in refused.value.message.split() or not value
    assert UserVariables(tmp_path, "ann").names() == []


def test_a_lost_key_file_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    UserVariables(tmp_path, "ann").keep({"A": "value"})
    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(VariablesUnavailable) as refused:
        UserVariables(tmp_path, "ann").names()
    assert KEY_FILE in refused.value.fix
    assert str(tmp_path) not in refused.value.fix
