"""Connections: kept with their keys, listed without them, tried before they are kept."""

from pathlib import Path

import pytest
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tests.cli.conftest import Wirewright
from tests.cli.langflow.conftest import Beside
from tests.runtime.langflow.stand_in import KEY, StandInLangflow


def test_a_connection_is_kept_listed_and_removed(beside: Beside) -> None:
    assert beside.run("langflow", "list", "--json").json == {
        "connections": [{"name": "local", "url": beside.there.url, "version": None, "error": None}]
    }
    assert beside.run("langflow", "list", "--check", "--json").json["connections"][0]["version"] == "1.13.0"
    assert beside.run("langflow", "disconnect", "local", "--json").json == {"removed": "local"}
    assert beside.run("langflow", "list", "--json").json == {"connections": []}
    again = beside.run("langflow", "disconnect", "local", "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "not_connected")


def test_the_key_is_kept_encrypted_with_its_address_and_shown_nowhere(beside: Beside, own_data: Path) -> None:
    shown = beside.run("variables", "list")
    assert shown.out.split() == ["LANGFLOW_SERVER_LOCAL"]
    for command in (("langflow", "list"), ("langflow", "list", "--json"), ("langflow", "flows")):
        done = beside.run(*command)
        assert KEY not in done.out + done.err
    assert all(KEY.encode() not in path.read_bytes() for path in own_data.rglob("*") if path.is_file())


def test_another_address_needs_a_key_again(beside: Beside) -> None:
    moved = beside.run("langflow", "connect", "http://127.0.0.1:1", "--name", "local", "--json")
    assert (moved.code, moved.json["error"]["code"]) == (2, "bad_key")
    assert beside.run("langflow", "list", "--json").json["connections"][0]["url"] == beside.there.url


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://langflow", "bad_address"),
        ("http://", "bad_address"),
        ("http://ada:secret@langflow", "bad_address"),
        ("http://langflow/?a=b", "bad_address"),
        ("http://[::1", "bad_address"),
        ("http://169.254.169.254", "address_refused"),
        ("http://langflow.example.org", "insecure_server"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_before_the_key_is_read(
    wirewright: Wirewright, own_data: Path, url: str, code: str
) -> None:
    done = wirewright("langflow", "connect", url, "--json", stdin=KEY.encode())
    assert (done.code, done.json["error"]["code"]) == (2, code)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (HTMLResponse("<html>Sign in</html>"), "not_langflow"),
        (JSONResponse({"version": "0.1", "package": "Something"}), "not_langflow"),
        (JSONResponse({"detail": "Not authenticated"}, 401), "key_refused"),
        (JSONResponse({"detail": "Not yours"}, 403), "not_allowed"),
        (JSONResponse({"detail": "Out of memory"}, 500), "langflow_failed"),
        (HTMLResponse("<html>Bad gateway</html>", 502), "langflow_failed"),
        (JSONResponse({"detail": "busy"}, 503), "langflow_busy"),
        (RedirectResponse("https://elsewhere.example.org/api"), "langflow_redirects"),
        (Response(b"\x1f\x8bgarbage", headers={"content-encoding": "gzip"}), "answer_too_large"),
    ],
)
def test_a_server_that_is_not_a_langflow_is_not_kept(
    stand_in: StandInLangflow, wirewright: Wirewright, own_data: Path, answer: Response, code: str
) -> None:
    stand_in.fault = answer
    done = wirewright("langflow", "connect", stand_in.url, "--json", stdin=KEY.encode())
    assert (done.code, done.json["error"]["code"]) == (1, code)
    assert KEY not in done.out + done.err
    assert wirewright("langflow", "list", "--json").json == {"connections": []}


def test_a_wrong_key_is_not_kept(stand_in: StandInLangflow, wirewright: Wirewright, own_data: Path) -> None:
    done = wirewright("langflow", "connect", stand_in.url, "--json", stdin=b"sk-another-key")
    assert (done.code, done.json["error"]["code"]) == (1, "key_refused")
    assert wirewright("langflow", "list", "--json").json == {"connections": []}


def test_a_server_that_is_gone_is_said_to_be(beside: Beside) -> None:
    done = beside.run("langflow", "connect", "http://127.0.0.1:1", "--name", "gone", "--json", stdin=KEY.encode())
    assert (done.code, done.json["error"]["code"]) == (1, "langflow_unreachable")


def test_one_of_several_has_to_be_named(beside: Beside) -> None:
    assert beside.run("langflow", "connect", beside.there.url, "--name", "team", stdin=KEY.encode()).code == 0
    done = beside.run("langflow", "flows", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "connection_needed")
    assert beside.run("langflow", "flows", "--connection", "team", "--json").json == {"flows": []}


def test_flows_are_listed_by_project(beside: Beside) -> None:
    beside.there.add("Echo", {"nodes": [], "edges": []})
    beside.there.add("Saved", {"nodes": [], "edges": []}, is_component=True)
    (flow,) = beside.run("langflow", "flows", "--folder", "Starter Project", "--json").json["flows"]
    assert (flow["name"], flow["folder"]) == ("Echo", "Starter Project")
    assert [one["name"] for one in beside.run("langflow", "folders", "--json").json["folders"]] == ["Starter Project"]
    none = beside.run("langflow", "flows", "--folder", "Other", "--json")
    assert (none.code, none.json["error"]["code"]) == (2, "no_folder")
