"""The installation's token: made once, weak ones refused, and what a damaged file leads to."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime.keychain.access_token import VARIABLE, TokenUnavailable, access_token, known_token


def test_all_that_start_at_once_have_the_same_token(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: access_token(tmp_path / "data"), range(32)))) == 1


def test_every_installation_has_its_own_token(tmp_path: Path) -> None:
    assert access_token(tmp_path / "one") != access_token(tmp_path / "two")


def test_nothing_is_made_when_it_is_only_looked_up(tmp_path: Path) -> None:
    assert known_token(tmp_path / "data") is None
    assert not (tmp_path / "data").exists()


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    token = access_token(tmp_path)
    (tmp_path / "token").chmod(0o644)
    assert access_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_the_environment_comes_first_and_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "e" * 32)
    assert access_token(tmp_path / "data") == known_token(tmp_path / "data") == "e" * 32
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "weak", ["secret", "x" * 31, "x" * 20 + " " + "x" * 20, "ü" * 40, "x" * 40 + "\n" + "x", "x" * 600]
)
def test_a_weak_token_is_refused(weak: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(weak, encoding="utf-8")
    with pytest.raises(TokenUnavailable) as of_file:
        access_token(tmp_path)
    monkeypatch.setenv(VARIABLE, weak)
    with pytest.raises(TokenUnavailable) as of_environment:
        access_token(tmp_path)
    for refused in (of_file, of_environment):
        assert weak not in refused.value.message + refused.value.fix
        assert str(tmp_path) not in refused.value.message + refused.value.fix


def test_an_empty_file_is_an_error_and_not_a_token(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    with pytest.raises(TokenUnavailable):
        access_token(tmp_path)


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x" * 40)
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TokenUnavailable):
        access_token(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write anywhere")
def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(TokenUnavailable, match="cannot be written"):
        access_token(tmp_path / "data")
