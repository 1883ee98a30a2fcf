"""Stored provider keys: encrypted, for their owner alone, whole, and seen by every process."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.keys import STORE_FILE, BadKey, KeysUnreadable, ProviderKeys
from runtime.keychain.master_key import CHECK_FILE
from runtime.keychain.master_key import FILE as KEY_FILE


@pytest.fixture(scope="session")
def factory(tmp_path_factory: pytest.TempPathFactory) -> pytest.TempPathFactory:
    """Makes a folder for each example."""
    return tmp_path_factory


def test_a_stored_key_is_encrypted_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    keys = ProviderKeys(tmp_path)
    keys.store("groq", {"GROQ_API_KEY": " gsk_secret "})
    assert keys.environment({"GROQ_API_KEY": "other", "PATH": "p"}) == {"GROQ_API_KEY": "gsk_secret", "PATH": "p"}
    assert keys.stored("groq") == {"GROQ_API_KEY"}
    assert b"gsk_secret" not in (tmp_path / STORE_FILE).read_bytes()
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in (KEY_FILE, STORE_FILE)] == [0o600, 0o600]
    assert {path.name for path in tmp_path.iterdir()} == {KEY_FILE, CHECK_FILE, STORE_FILE}


def test_one_process_reads_what_another_stored(tmp_path: Path) -> None:
    first, second = ProviderKeys(tmp_path), ProviderKeys(tmp_path)
    assert second.stored("groq") == frozenset()
    first.store("groq", {"GROQ_API_KEY": "a"})
    assert second.environment({}) == {"GROQ_API_KEY": "a"}
    second.store("mistral", {"MISTRAL_API_KEY": "b"})
    assert first.environment({}) == {"GROQ_API_KEY": "a", "MISTRAL_API_KEY": "b"}
    assert first.forget("groq")
    assert not second.forget("groq")
    assert second.environment({}) == {"MISTRAL_API_KEY": "b"}


def test_a_lost_key_file_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    ProviderKeys(tmp_path).store("groq", {"GROQ_API_KEY": "a"})
    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(KeysUnreadable) as refused:
        ProviderKeys(tmp_path).environment()
    assert KEY_FILE in refused.value.error.fix
    assert str(tmp_path) not in refused.value.error.fix


def test_keys_stored_at_once_share_one_secret(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=ProviderKeys(tmp_path).store, args=("groq", {"GROQ_API_KEY": str(number)}))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ProviderKeys(tmp_path).environment({})["GROQ_API_KEY"] in {str(number) for number in range(8)}


@given(value=st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30))
def test_every_value_that_can_be_a_key_is_kept_as_it_is(factory: pytest.TempPathFactory, value: str) -> None:
    keys = ProviderKeys(factory.mktemp("keys"))
    keys.store("groq", {"GROQ_API_KEY": f" {value}\n"})
    assert keys.environment({})["GROQ_API_KEY"] == value


@given(value=st.text(alphabet=st.characters(min_codepoint=128), min_size=8, max_size=30))
def test_an_invalid_value_is_refused_without_being_repeated(factory: pytest.TempPathFactory, value: str) -> None:
    with pytest.raises(BadKey) as refused:
        ProviderKeys(factory.mktemp("keys")).store("groq", {"GROQ_API_KEY": f"k{value}k"})
    assert value not in f"{refused.value.message}{refused.value.fix}"
