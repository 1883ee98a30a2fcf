"""What a server, or the way to it, refuses: each with a code, the reason and the remedy."""

import http.server
import json
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from agent.contract.events import CancelledEvent
from cli.output.turn import Readable
from cli.remote.ask import Words
from cli.remote.canvas import RemoteCanvas
from flows.document import Flow
from tests.cli.conftest import Wirewright
from tests.cli.remote.conftest import Serve

TOKEN = "t" * 40


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Generator[tuple[str, list[Any]]]:
    """A server that gives one answer; and the requests that it got."""
    seen: list[Any] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(dict(self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def problem(code: str, message: str, fix: str = "", request_id: str | None = None) -> bytes:
    return json.dumps(
        {"error": {"code": code, "message": message, "fix": fix, "where": None, "request_id": request_id}}
    ).encode()


@pytest.mark.parametrize(
    ("status", "body", "headers", "code", "says"),
    [
        (403, problem("missing_scope", "No.", "Ask."), {}, "missing_scope", "Ask. Or sign in with another token"),
        (404, problem("flow_not_found", "No flow."), {}, "flow_not_found", "wirewright flow list --server"),
        (409, problem("files_full", "Full.", "Remove some."), {}, "files_full", "Remove some."),
        (429, problem("too_many_runs", "Busy."), {"Retry_After": "7"}, "too_many_runs", "Try again in 7 seconds."),
        (503, problem("busy", "Busy."), {"Retry_After": "1"}, "busy", "Try again in 1 second."),
        (500, problem("internal", "Wrong.", "", "abc-1"), {}, "internal", "request id abc-1"),
        (502, b"<html>", {"X_Request_ID": "r-2"}, "server_failed", "request id r-2"),
        (200, b"<html>", {}, "unreadable_answer", "same version"),
        (200, b'{"runs": 5}', {}, "unreadable_answer", "same version"),
        (413, b"<html>nginx</html>", {}, "too_large", "limit of the proxy"),
        (302, b"", {"Location": "http://127.0.0.1:9/"}, "unreadable_answer", "Check the address"),
    ],
)
def test_an_answer_that_refuses_is_an_error_with_the_remedy(
    status: int,
    body: bytes,
    headers: dict[str, str],
    code: str,
    says: str,
    wirewright: Wirewright,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    with answering(status, body, **headers) as (url, seen):
        done = wirewright("runs", "list", "--json", "--server", url)
    assert done.code == 1
    assert done.json["error"]["code"] == code
    assert says in done.json["error"]["fix"]
    assert [one["Authorization"] for one in seen] == [f"Bearer {TOKEN}"]
    assert TOKEN not in done.out + done.err


def test_a_server_that_is_not_there_is_named(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    for arguments in (("runs", "list"), ("ask", "hello"), ("files", "list"), ("flow", "run", "x")):
        error = wirewright(*arguments, "--json", "--server", "http://127.0.0.1:1").json["error"]
        assert error["code"] == "server_unreachable"
        assert error["fix"]


def test_a_certificate_that_nobody_signed_is_refused(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    from cli.errors import CommandError
    from cli.remote.failures import failures

    cause = ssl.SSLCertVerificationError()
    cause.verify_message = "self-signed certificate"
    with pytest.raises(CommandError) as refused, failures("https://a"):
        raise httpx.ConnectError("certificate") from cause
    assert refused.value.code == "bad_certificate"
    assert "self-signed certificate" in refused.value.message


def test_a_user_without_the_scope_is_told_which_is_missing(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = serve()
    error = remote.run("usage", "--all", "--user", "ada", "--json").json["error"]
    assert error["code"] == "usage"
    error = remote.run("usage", "--user", "ada", "--json").json["error"]
    assert (error["code"], error["where"]) == ("not_remote", "--user")


def test_why_a_server_ended_a_turn_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    stopping = CancelledEvent(message="The server is stopping; what was done so far is kept.", reason="interrupted")
    Words(Readable(interactive=True)).show(stopping, RemoteCanvas(Flow.empty()), None)
    assert capsys.readouterr().err == "The server is stopping; what was done so far is kept.\n"


def test_a_server_without_tls_is_told_from_one_that_is_not_there(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    with answering(200, b"{}") as (url, _):
        refused = wirewright("flow", "list", "--server", url.replace("http:", "https:"), "--json").json["error"]
    assert (refused["code"], url in refused["fix"]) == ("no_tls", True)


def test_a_server_that_closes_without_an_answer_may_take_tls_alone(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"

        def close() -> None:
            server.accept()[0].close()

        closing = threading.Thread(target=close)
        closing.start()
        refused = wirewright("flow", "list", "--server", url, "--json").json["error"]
        closing.join()
    assert (refused["code"], url.replace("http:", "https:") in refused["fix"]) == ("connection_lost", True)


def test_an_address_that_the_server_does_not_know_is_another_version(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_TOKEN", TOKEN)
    body = json.dumps({"error": {"code": "not_found", "message": "Nothing was found.", "fix": "See GET /."}})
    with answering(404, body.encode()) as (url, _):
        refused = wirewright("bundles", "list", "--server", url, "--json").json["error"]
    assert (refused["code"], "same version" in refused["fix"]) == ("unreadable_answer", True)
