"""The server's settings: loopback only, and the port where it is looked for."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from server.settings import ServerSettings, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST", "wire.localhost"])
def test_a_name_of_this_machine_is_accepted(host: str) -> None:
    assert ServerSettings(host=host).host == host


@pytest.mark.parametrize("host", ["192.168.1.1", "::", "10.0.0.7"])
def test_the_server_does_not_start_in_plain_http_when_the_host_is_not_this_machine(host: str) -> None:
    with pytest.raises(ValidationError, match="plain HTTP"):
        ServerSettings(host=host)


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "127.0.0.1.nip.io"])
def test_a_name_that_may_mean_any_machine_is_no_address_to_listen_on(host: str) -> None:
    with pytest.raises(ValidationError, match="not an address"):
        ServerSettings(host=host)


def test_an_empty_host_is_not_this_machine() -> None:
    assert not is_loopback("")


def test_a_plain_port_is_honoured_and_ours_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ServerSettings().port == 7878
    monkeypatch.setenv("PORT", "8000")
    assert ServerSettings().port == 8000
    monkeypatch.setenv("WIREWRIGHT_PORT", "9000")
    assert ServerSettings().port == 9000
    assert ServerSettings(port=1).port == 1


def test_flows_are_stored_in_the_data_folder_by_default(data_folder: Path) -> None:
    assert ServerSettings().database_url == f"sqlite+aiosqlite:///{data_folder}/wirewright.db"
    assert ServerSettings(database="sqlite+aiosqlite://").database_url == "sqlite+aiosqlite://"
