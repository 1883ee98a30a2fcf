"""`wirewright components --server` and `flow sessions --server`."""

import json
from pathlib import Path

from flows.document import JsonObject
from tests.cli.remote.conftest import Serve


def test_the_servers_components_are_found_and_described(serve: Serve) -> None:
    remote = serve()
    row = remote.run("components", "search", "chat input", "--limit", "3", "--json").json
    assert row["query"] == "chat input"
    assert row["matches"][0]["type"] == "ChatInput"
    assert remote.run("components", "search", "chat input", "--limit", "3").out.startswith("ChatInput")
    described = remote.run("components", "describe", "ChatInput", "--json").json
    assert (described["ok"], described["type"]) == (True, "ChatInput")
    assert {"input_value"} <= {one["name"] for one in described["inputs"]}
    assert remote.run("components", "describe", "ChatInput").out == f"{described['text']}\n"
    unknown = remote.run("components", "describe", "Nothing", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "component_not_found")
    assert remote.run("components", "search", "x", "--legacy", "--json").json["error"]["code"] == "not_remote"


def test_the_sessions_of_a_stored_flow_are_asked_for_by_its_name(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = serve()
    path = tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    assert remote.run("flow", "sessions", "list", "Echo", "--json").json == {"sessions": []}
    for arguments in (("show", "Echo", "monday"), ("remove", "Echo", "monday")):
        error = remote.run("flow", "sessions", *arguments, "--json").json["error"]
        assert error["code"] == "session_not_found"
    assert remote.run("flow", "sessions", "remove", "Echo", "--all", "--json").json == {"removed": 0}
