"""The master key: where it comes from, and what a lost, wrong or damaged one leads to."""

import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked

from runtime.keychain.master_key import (
    CHECK_FILE,
    FILE,
    KEYRING_NAME,
    KEYRING_SERVICE,
    STORE_VARIABLE,
    VARIABLE,
    SecretKeyUnavailable,
    source,
)
from runtime.keychain.sealing import Sealing, Unreadable

MINE = "m" * 40
OTHER = "o" * 40


class Ring(KeyringBackend):
    """A keyring in memory, as the library's own backends are written."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise KeyringLocked
        self.kept[service, username] = password


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Generator[Ring]:
    before, made = keyring.get_keyring(), Ring()
    keyring.set_keyring(made)
    monkeypatch.setenv(STORE_VARIABLE, "keyring")
    yield made
    keyring.set_keyring(before)


def refused(sealing: Sealing) -> SecretKeyUnavailable:
    """Why nothing can be encrypted."""
    with pytest.raises(Unreadable) as failure:
        sealing.seal("x")
    cause = failure.value.__cause__
    assert isinstance(cause, SecretKeyUnavailable)
    assert cause.fix
    return cause


def test_a_file_is_the_usual_source_and_its_owner_alone_can_read_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert source() == "file"
    assert not data.exists(), "nothing is made before it is needed"
    assert Sealing(data).unseal(Sealing(data).seal("x")) == "x"
    assert {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()} == {FILE: 0o600, CHECK_FILE: 0o600}
    assert data.stat().st_mode & 0o777 == 0o700


def test_all_that_begin_at_once_share_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sealed = list(pool.map(lambda number: Sealing(tmp_path / "data").seal(str(number)), range(16)))
    assert [Sealing(tmp_path / "data").unseal(each) for each in sealed] == [str(number) for number in range(16)]


def test_a_key_that_another_process_makes_between_two_looks_is_used(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Ring.get_password

    def rival_after_the_first_look(self: Ring, service: str, username: str) -> str | None:
        found = look(self, service, username)
        monkeypatch.setattr(Ring, "get_password", look)
        Sealing(tmp_path).seal("rival")
        return found

    monkeypatch.setattr(Ring, "get_password", rival_after_the_first_look)
    sealed = Sealing(tmp_path).seal("x")
    assert len(ring.kept) == 1
    assert Sealing(tmp_path).unseal(sealed) == "x"


def test_the_environments_key_comes_first_and_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ring: Ring
) -> None:
    monkeypatch.setenv(VARIABLE, MINE)
    assert source() == "environment"
    sealed = Sealing(tmp_path).seal("x")
    assert not (tmp_path / FILE).exists()
    assert not ring.kept
    assert MINE.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    monkeypatch.setenv(VARIABLE, OTHER)
    with pytest.raises(Unreadable):
        Sealing(tmp_path).unseal(sealed)
    monkeypatch.setenv(VARIABLE, MINE)
    assert Sealing(tmp_path).unseal(sealed) == "x"


def test_a_short_key_of_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "secret")
    assert VARIABLE in refused(Sealing(tmp_path)).message
    assert not list(tmp_path.iterdir())


def test_a_store_that_does_not_exist_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_VARIABLE, "vault")
    assert STORE_VARIABLE in refused(Sealing(tmp_path)).message


def test_the_keyring_keeps_the_key_when_it_is_chosen(tmp_path: Path, ring: Ring) -> None:
    assert source() == "keyring"
    with ThreadPoolExecutor(4) as pool:
        sealed = list(pool.map(lambda _: Sealing(tmp_path).seal("x"), range(8)))
    assert list(ring.kept) == [(KEYRING_SERVICE, KEYRING_NAME)]
    assert not (tmp_path / FILE).exists()
    assert {Sealing(tmp_path).unseal(each) for each in sealed} == {"x"}


def test_a_locked_keyring_is_a_typed_error_and_no_file_replaces_it(tmp_path: Path, ring: Ring) -> None:
    sealed = Sealing(tmp_path).seal("x")
    ring.locked = True
    assert "keyring" in refused(Sealing(tmp_path)).message
    with pytest.raises(Unreadable):
        Sealing(tmp_path).unseal(sealed)
    assert not (tmp_path / FILE).exists()
    ring.locked = False
    assert Sealing(tmp_path).unseal(sealed) == "x"


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
def test_a_machine_without_a_keyring_is_a_typed_error(
    tmp_path: Path, ring: Ring, backend: type[KeyringBackend]
) -> None:
    keyring.set_keyring(backend())
    assert STORE_VARIABLE in refused(Sealing(tmp_path)).fix


def test_a_keyring_without_its_library_is_a_typed_error(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "wirewright[keyring]" in refused(Sealing(tmp_path)).fix


def test_another_source_takes_over_from_the_file_and_reads_what_was_encrypted_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Sealing(tmp_path).seal("before")
    monkeypatch.setenv(VARIABLE, MINE)
    after = Sealing(tmp_path).seal("after")
    assert (Sealing(tmp_path).unseal(before), Sealing(tmp_path).unseal(after)) == ("before", "after")
    (tmp_path / FILE).unlink()
    assert Sealing(tmp_path).unseal(after) == "after"


def test_nothing_is_encrypted_with_another_key_while_the_one_in_use_is_lost(tmp_path: Path) -> None:
    sealed = Sealing(tmp_path).seal("x")
    (tmp_path / FILE).rename(tmp_path / "lost")
    assert CHECK_FILE in refused(Sealing(tmp_path)).fix
    assert not (tmp_path / FILE).exists(), "a key in its place would hide the loss"
    (tmp_path / "lost").rename(tmp_path / FILE)
    assert Sealing(tmp_path).unseal(sealed) == "x"
    assert Sealing(tmp_path).seal("more")


def test_another_key_in_the_environment_is_noticed_before_anything_is_encrypted_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, MINE)
    Sealing(tmp_path).seal("x")
    for given in (OTHER, ""):
        monkeypatch.setenv(VARIABLE, given)
        problem = refused(Sealing(tmp_path))
        assert VARIABLE in problem.fix
        assert str(tmp_path) not in problem.message + problem.fix


def test_a_lost_key_can_be_given_up(tmp_path: Path) -> None:
    Sealing(tmp_path).seal("x")
    (tmp_path / FILE).unlink()
    (tmp_path / CHECK_FILE).unlink()
    assert Sealing(tmp_path).unseal(Sealing(tmp_path).seal("y")) == "y"


@pytest.mark.parametrize("damage", [b"", b"short", b"\xff" * 44, b"x" * 10_000])
def test_a_damaged_file_is_a_typed_error(tmp_path: Path, damage: bytes) -> None:
    Sealing(tmp_path).seal("x")
    (tmp_path / FILE).write_bytes(damage)
    refused(Sealing(tmp_path))
    assert (tmp_path / FILE).read_bytes() == damage


def test_files_of_earlier_versions_decrypt(tmp_path: Path) -> None:
    earlier = Sealing(tmp_path)
    sealed = earlier.seal("x")
    (tmp_path / FILE).rename(tmp_path / "providers.key")
    (tmp_path / CHECK_FILE).unlink()
    now = Sealing(tmp_path, "providers.key")
    assert now.unseal(sealed) == "x"
    assert now.unseal(now.seal("y")) == "y"
    assert (tmp_path / FILE).read_bytes() != (tmp_path / "providers.key").read_bytes()
