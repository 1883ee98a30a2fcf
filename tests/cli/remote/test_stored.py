"""Files, variables, runs and flows on a server, with the output that they have on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.document import JsonObject
from tests.cli.conftest import Wirewright
from tests.cli.remote.conftest import Serve
from tests.compatibility.langflow_archives import changed, export, newer, older, packed


def test_files_go_to_the_server_and_come_back(serve: Serve, tmp_path: Path) -> None:
    remote = serve()
    (tmp_path / "hours.txt").write_text("The office opens at nine.\n")
    added = remote.run("files", "add", tmp_path / "hours.txt", "--folder", "a b")
    assert added.err == "Added a b/hours.txt (26 bytes).\n"
    assert remote.run("files", "list").out.split(maxsplit=1) == ["26", "a b/hours.txt\n"]
    assert remote.run("files", "list", "--json").json == {"files": [{"path": "a b/hours.txt", "size": 26}]}
    assert remote.alone("files", "list", "--json").json == {"files": []}
    assert remote.run("files", "get", "a b/hours.txt").out == "The office opens at nine.\n"
    done = remote.run("files", "remove", "a b/hours.txt", "--json")
    assert done.json == {"removed": [{"path": "a b/hours.txt", "size": 26}]}
    gone = remote.run("files", "get", "a b/hours.txt", "--json", "--out", tmp_path / "copy")
    assert (gone.code, gone.json["error"]["code"]) == (1, "file_not_found")
    assert not (tmp_path / "copy").exists()
    missing = remote.run("files", "add", tmp_path / "missing", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (2, "unreadable")


def test_variables_are_set_on_the_server(serve: Serve) -> None:
    remote = serve()
    assert remote.run("variables", "set", "A_KEY", stdin=b"secret").err == "A_KEY is kept.\n"
    assert remote.run("variables", "list", "--json").json == {"variables": [{"name": "A_KEY"}]}
    assert remote.alone("variables", "list", "--json").json == {"variables": []}
    assert remote.run("variables", "remove", "A_KEY", "--json").json == {"removed": "A_KEY"}
    assert remote.run("variables", "remove", "A_KEY", "--json").json["error"]["code"] == "variable_not_found"
    assert remote.run("variables", "set", "a key", "--json", stdin=b"x").json["error"]["code"] == "invalid_variable"


def test_flows_are_stored_listed_changed_and_removed(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    path = tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    (stored,) = remote.run("flow", "import", path, "--json").json["flows"]
    listed = remote.run("flow", "list", "--json").json
    assert listed == {"flows": [stored], "total": 1}
    path.write_text(json.dumps({**echo, "name": "Louder"}))
    replaced = remote.run("flow", "import", path, "--replace", "Echo", "--json").json["flows"][0]
    assert (replaced["id"], replaced["version"], replaced["name"]) == (stored["id"], 2, "Louder")
    late = remote.run("flow", "import", path, "--replace", "Louder", "--based-on", "1", "--json")
    assert (late.code, late.json["error"]["code"]) == (1, "version_conflict")
    versions = remote.run("flow", "revisions", stored["id"][:8], "--json").json["revisions"]
    assert [one["version"] for one in versions] == [2, 1]
    assert remote.run("flow", "restore", "Louder", "1", "--json").json["version"] == 3
    shown = remote.run("flow", "show", "Echo")
    assert shown.out.startswith(f"Echo ({stored['id']})\nversion 3, ")
    exported = remote.run("flow", "export", "Echo", "--out", tmp_path / "copy.json")
    assert exported.code == 0
    assert json.loads((tmp_path / "copy.json").read_text())["data"] == echo["data"]
    assert remote.run("flow", "export", "Echo", "--json").json["data"] == echo["data"]
    for full in ("/dev/full", tmp_path / "no folder" / "echo.json"):
        refused = remote.run("flow", "export", "Echo", "--out", full, "--json")
        assert (refused.code, refused.json["error"]["code"]) in ((1, "unwritable"), (2, "unwritable"))
        assert refused.json["error"]["fix"]
    assert remote.run("flow", "remove", "Echo", "--json").json == {"removed": 1}
    gone = remote.run("flow", "show", "Echo", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "flow_not_found")
    assert f"wirewright flow list --server {remote.url}" in gone.json["error"]["fix"]


def test_a_name_that_two_flows_have_is_refused(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    path = tmp_path / "echo.json"
    path.write_text(json.dumps([{**echo, "name": "Echo"}, {**echo, "name": "Echo"}]))
    assert remote.run("flow", "import", path).err.count("is stored as version 1.") == 2
    assert remote.run("flow", "remove", "Echo", "--json").json["error"]["code"] == "flow_ambiguous"
    assert remote.run("flow", "list", "--json").json["total"] == 2


@pytest.mark.parametrize("write", [older, newer])
def test_a_project_of_langflows_is_imported(write: Any, serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    path = tmp_path / "20260301_080000_Ärger_flows.zip"
    path.write_bytes(write([export(echo, name) for name in ("Ärger", "a/../b", "Twice", "Twice")]))
    done = remote.run("flow", "import", path)
    assert (done.code, done.err.count("is stored as version 1.")) == (0, 4)
    listed = remote.run("flow", "list", "--json").json
    assert sorted(one["name"] for one in listed["flows"]) == ["Twice", "Twice", "a/../b", "Ärger"]
    assert json.loads(remote.run("flow", "export", "Ärger").out)["data"] == echo["data"]


def test_what_in_an_archive_is_no_flow_is_named_and_the_rest_imported(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote = serve()
    path = tmp_path / "project.zip"
    text = json.dumps(export(echo, "Good")).encode()
    archive = packed([("good.json", text), ("../bad\x1b[2J.json", b"{"), ("none.json", b"{}"), ("locked.json", text)])
    path.write_bytes(changed(archive, "locked.json", flags=1))
    done = remote.run("flow", "import", path)
    assert (done.code, done.err.count("is stored as version 1."), done.err.count("is left out: ")) == (1, 1, 3)
    assert "\x1b" not in done.err, "what a stranger called a file does nothing to the terminal"
    found = remote.run("flow", "import", path, "--json")
    assert (found.code, found.json["total"]) == (1, 1)
    assert [one["code"] for one in found.json["skipped"]] == ["not_json", "invalid_flow", "encrypted"]
    for content in (archive[:-30], b"PK", packed([("none.json", b"{}")])):
        path.write_bytes(content)
        refused = remote.run("flow", "import", path, "--json")
        assert refused.code == 1
        assert refused.json["error"]["fix"]
    assert remote.run("flow", "list", "--json").json["total"] == 2


def test_a_flow_needs_a_server(wirewright: Wirewright) -> None:
    done = wirewright("flow", "list", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "server_needed")


def test_a_command_without_a_counterpart_refuses_the_server(wirewright: Wirewright) -> None:
    done = wirewright("runner", "status", "--server", "http://127.0.0.1:1", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "not_remote")
