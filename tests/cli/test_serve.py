"""`wirewright serve`: settings are judged before anything listens; what it serves is tested with the server."""

from collections.abc import Callable

import pytest

from server.serve import CannotServe
from server.settings import ServerSettings
from tests.cli.conftest import Wirewright


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[ServerSettings]:
    """The settings that the server was started with."""
    seen: list[ServerSettings] = []
    monkeypatch.setattr("server.serve.serve", lambda settings, *_, **__: seen.append(settings))
    return seen


def test_the_command_line_goes_before_the_environment(
    wirewright: Wirewright, served: list[ServerSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", "7001")
    assert wirewright("serve").code == 0
    assert wirewright("serve", "--host", "localhost", "--port", "7002").code == 0
    assert [(settings.host, settings.port) for settings in served] == [("127.0.0.1", 7001), ("localhost", 7002)]


@pytest.mark.parametrize(
    ("arguments", "variables", "where"),
    [
        (["--port", "70000"], {}, "--port"),
        (["--host", "0.0.0.0"], {}, "--host"),  # noqa: S104  (it must be refused)
        ([], {"PORT": "many"}, "PORT"),
        ([], {"WIREWRIGHT_HOST": "example.org"}, "WIREWRIGHT_HOST"),
        ([], {"WIREWRIGHT_BODY_LIMIT": "1"}, "WIREWRIGHT_BODY_LIMIT"),
        ([], {"WIREWRIGHT_LOG": "xml"}, "WIREWRIGHT_LOG"),
    ],
)
def test_a_setting_that_cannot_be_used_is_bad_usage(
    arguments: list[str],
    variables: dict[str, str],
    where: str,
    wirewright: Wirewright,
    served: list[ServerSettings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = wirewright("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"{where} cannot be used" in done.err
    assert served == []


def test_the_url_is_printed_as_a_document_with_the_json_option(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(_: ServerSettings, announce: Callable[[str], None], *, as_json: bool, **_options: object) -> None:
        assert as_json
        announce("http://[::1]:7878")

    monkeypatch.setattr("server.serve.serve", serve)
    assert wirewright("serve", "--json").json == {"event": "serving", "url": "http://[::1]:7878"}


def test_an_address_in_use_is_a_failure(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(*_: object, **__: object) -> None:
        raise CannotServe("Cannot listen on port 7878.", "Stop what uses it.")

    monkeypatch.setattr("server.serve.serve", taken)
    done = wirewright("serve")
    assert done.code == 1
    assert done.err == "Error: Cannot listen on port 7878. Stop what uses it.\n"
