"""`wirewright token`: the token, and links that sign a browser in."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from flows.catalogue import Catalogue
from runtime.keychain.access_token import access_token
from tests.cli.conftest import Wirewright
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant


def test_the_token_is_printed_and_nothing_else(wirewright: Wirewright, data_folder: Path) -> None:
    assert wirewright("token").out == f"{access_token(data_folder)}\n"
    assert wirewright("token", "--json").json == {"token": access_token(data_folder)}


@pytest.mark.anyio
async def test_a_link_signs_a_browser_in_at_the_running_server(wirewright: Wirewright, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        link = wirewright("token", "--link", "--port", str(live.client.base_url.port)).out.strip()
        assert (await live.stranger.get(link)).status_code == 303
        assert (await live.stranger.get(FLOWS)).status_code == 200


def test_a_link_leads_to_the_port_of_the_environment(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "7001")
    found = urlsplit(wirewright("token", "--link", "--json").json["link"])
    assert (found.netloc, found.path, list(parse_qs(found.query))) == ("127.0.0.1:7001", "/sign-in", ["code"])


@pytest.mark.parametrize("arguments", [["--port", "7878"], ["--link", "--port", "0"], ["--link", "--port", "70000"]])
def test_a_port_that_leads_nowhere_is_bad_usage(wirewright: Wirewright, arguments: list[str]) -> None:
    done = wirewright("token", *arguments, "--json")
    assert (done.code, "error" in done.json) == (2, True)


def test_a_weak_token_is_a_typed_error(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", "secret")
    done = wirewright("token", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "token_unavailable")
