"""`wirewright login`: a token is tried, kept for its server alone, and forgotten."""

import json
import stat
from pathlib import Path

import pytest

from cli.remote.tokens import FILE
from cli.shell.env_file import read_env_file
from tests.cli.conftest import Wirewright
from tests.cli.remote.conftest import Serve

OTHER = "https://flows.example.org"
TOKEN = "t" * 40


def test_a_token_is_kept_for_its_server_in_a_file_of_its_owner(serve: Serve) -> None:
    remote = serve(signed_in=False)
    done = remote.alone("login", remote.url + "/", stdin=f"{remote.token}\n".encode())
    assert (done.code, done.out, done.err) == (
        0,
        "",
        f"The token for {remote.url} is kept. Use it with --server {remote.url}\n",
    )
    path = remote.data / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {remote.url: {"token": remote.token, "insecure": False}}
    assert remote.alone("login", "--list").out == f"{remote.url}\n"
    assert remote.run("runs", "list").code == 0
    assert remote.alone("logout", remote.url, "--json").json == {"removed": remote.url}
    assert remote.run("runs", "list", "--json").json["error"]["code"] == "not_signed_in"
    assert remote.alone("logout", remote.url, "--json").json["error"]["code"] == "not_signed_in"
    assert remote.alone("login", "--list", "--json").json == {"servers": []}


def test_a_token_that_the_server_does_not_take_is_not_kept(serve: Serve) -> None:
    remote = serve(signed_in=False)
    done = remote.alone("login", remote.url, "--json", stdin=TOKEN.encode())
    assert done.code == 1
    assert done.json["error"]["code"] == "token_refused"
    assert not (remote.data / FILE).exists()


def test_a_token_is_sent_to_no_other_server(serve: Serve) -> None:
    remote = serve()
    port = remote.url.rpartition(":")[2]
    for other in (f"http://localhost:{port}", f"http://[::1]:{port}", OTHER):
        done = remote.alone("runs", "list", "--json", "--server", other)
        assert done.json["error"]["code"] == "not_signed_in"
        assert done.json["error"]["fix"] == f"Sign in: wirewright login {other}"


def test_the_environments_token_wins_and_its_server_is_the_default(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve()
    monkeypatch.setenv("WIREWRIGHT_SERVER", remote.url)
    assert remote.alone("flow", "list", "--json").json == {"flows": [], "total": 0}
    assert remote.alone("flow", "list", "--json", "--server", "").json["error"]["code"] == "server_needed"
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    error = remote.alone("flow", "list", "--json").json["error"]
    assert (error["code"], error["fix"]) == ("not_signed_in", "Correct WIREWRIGHT_TOKEN, or leave it out.")
    monkeypatch.setenv("WIREWRIGHT_TOKEN", remote.token)
    remote.alone("logout", remote.url)
    assert remote.alone("flow", "list").code == 0


@pytest.mark.parametrize("address", ["http://flows.example.org", "http://10.0.0.1:7878"])
def test_no_token_leaves_this_machine_in_the_clear(
    address: str, wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = wirewright("login", address, "--json", stdin=TOKEN.encode())
    assert (done.code, done.json["error"]["code"]) == (2, "insecure_server")
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    done = wirewright("runs", "list", "--json", "--server", address)
    assert (done.code, done.json["error"]["code"]) == (2, "insecure_server")


@pytest.mark.parametrize(
    "address",
    [
        *("", "flows.example.org", "ftp://flows.example.org", "http://", "https://a b", "https://a:99999"),
        *("https://user:pass@flows.example.org", "https://flows.example.org/path", "https://flows.example.org?x=1"),
    ],
)
def test_what_is_not_the_address_of_a_server_is_refused(address: str, wirewright: Wirewright) -> None:
    done = wirewright("login", address, "--json", stdin=TOKEN.encode())
    assert (done.code, done.json["error"]["code"]) == (2, "bad_address")
    assert done.json["error"]["fix"]


@pytest.mark.parametrize("token", [b"", b"short", b"x" * 600, "ü".encode() * 40, b"a b" * 20])
def test_what_no_header_can_have_is_no_token(token: bytes, wirewright: Wirewright) -> None:
    done = wirewright("login", OTHER, "--json", stdin=token)
    assert (done.code, done.json["error"]["code"]) == (2, "bad_token")


def test_a_folder_does_not_decide_which_server_is_asked(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"WIREWRIGHT_SERVER={OTHER}\nWIREWRIGHT_MODEL=demo\n")
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert environment == {"WIREWRIGHT_MODEL": "demo"}


def test_a_file_of_tokens_that_cannot_be_read_is_named(wirewright: Wirewright, tmp_path: Path) -> None:
    import os

    data = Path(os.environ["WIREWRIGHT_DATA"])
    data.mkdir(exist_ok=True)
    (data / FILE).write_text('{"https://a": {"token": 5}}')
    error = wirewright("login", "--list", "--json").json["error"]
    assert error["code"] == "tokens_unavailable"
    assert FILE in error["fix"]
