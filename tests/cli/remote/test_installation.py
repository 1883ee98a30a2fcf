"""What concerns a whole server, from the terminal: users, models, bundles, evaluations, and how it is."""

import json
from pathlib import Path

import httpx
import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.install.errors import InstallError
from tests.cli.remote.conftest import Remote, Serve
from tests.flows.edits.test_updates import earlier
from tests.shared.flow_texts import ECHO, flow_of, node_id
from tests.shared.shelf import Shelf, index_of, shelf_of


def as_user(remote: Remote, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command be somebody else."""
    monkeypatch.setenv("WIREWRIGHT_TOKEN", token)


def test_a_user_who_is_added_signs_in_and_sees_nothing_of_others(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve()
    (tmp_path / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    assert remote.run("flow", "import", tmp_path / "echo.json").code == 0
    added = remote.run("users", "add", "ada", "--days", "3")
    assert "not shown again" in added.err
    assert remote.alone("users", "list", "--json").json == {"users": []}
    listed = remote.run("users", "list", "--json")
    assert [one["name"] for one in listed.json["users"]] == ["ada"]
    assert added.out.strip() not in listed.out
    as_user(remote, added.out.strip(), monkeypatch)
    assert remote.run("flow", "list", "--json").json["total"] == 0
    refused = remote.run("users", "list", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "missing_scope")
    assert f"wirewright login {remote.url}" in refused.json["error"]["fix"]


def test_a_token_that_is_rotated_or_revoked_is_not_taken_any_more(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve()
    first = remote.run("users", "add", "ada", "--json").json["token"]
    second = remote.run("users", "rotate", "ADA", "--json").json["token"]
    for arguments, code, command in (
        (("add", "ada"), "name_taken", "users rotate"),
        (("revoke", "nobody"), "user_not_found", "users list"),
    ):
        refused = remote.run("users", *arguments, "--json").json["error"]
        assert (refused["code"], f"wirewright {command}" in refused["fix"]) == (code, True)
    codes: list[int] = []
    for token in (first, second):
        with monkeypatch.context() as patched:
            as_user(remote, token, patched)
            codes.append(remote.run("flow", "list").code)
    assert codes == [1, 0]
    assert remote.run("users", "revoke", "ada", "--json").json["state"] == "revoked"
    as_user(remote, second, monkeypatch)
    refused = remote.run("flow", "list", "--json").json["error"]
    assert (refused["code"], "WIREWRIGHT_TOKEN" in refused["fix"]) == ("not_signed_in", True)


def test_a_providers_key_is_kept_and_never_shown(serve: Serve) -> None:
    remote, key = serve(), "sk-a-key-of-this-test-1234"
    kept = remote.run("models", "set-key", "openai", stdin=f"{key}\n".encode())
    assert kept.err == "Kept for OpenAI, which is available.\n"
    listed = remote.run("models", "list", "--json")
    openai = next(one for one in listed.json["providers"] if one["name"] == "openai")
    assert (openai["configured"], key in listed.out + kept.out) == (True, False)
    assert remote.alone("models", "list", "--json").json["default"] == "demo"
    assert remote.run("models", "remove-key", "openai", "--json").json == {"removed": "openai"}
    for arguments, code in (
        (("remove-key", "openai"), "nothing_stored"),
        (("set-key", "nobody"), "unknown_provider"),
        (("set-key", "openai"), "invalid_request"),
    ):
        assert remote.run("models", *arguments, "--json", stdin=b"").json["error"]["code"] == code


def test_models_are_tested_by_the_server(serve: Serve) -> None:
    done = serve().run("models", "test", "demo", "nobody:x")
    assert done.code == 1
    assert "The demo planner is not a language model." in done.out


def who(catalogue: Catalogue, shelf: Shelf) -> Assistant:
    """An assistant whose engine can be given the bundle `shelf`."""
    return Assistant(AssistantSettings(model="demo"), shelf, catalogue=catalogue, bundles=index_of(catalogue))


def test_a_bundle_is_installed_and_its_end_is_waited_for(
    serve: Serve, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.bundles.app.WAIT_SECONDS", 0.01)
    shelf = shelf_of(catalogue)
    remote = serve(who=lambda: who(catalogue, shelf))
    before = remote.run("bundles", "list", "--json").json["bundles"]
    done = remote.run("bundles", "install", "shelf")
    assert ([one["state"] for one in before], done.code) == (["available"], 0)
    assert "shelf is installed: 1 component types." in done.err
    assert remote.run("bundles", "list", "SHOUT", "--installed").out.split() == [
        "installed", "shelf", "1", "types,", "7.2", "MB"
    ]  # fmt: skip
    unknown = remote.run("bundles", "install", "shelv", "--json").json["error"]
    assert unknown["code"] == "bundle_not_found"


def test_why_a_bundle_could_not_be_installed_is_told(
    serve: Serve, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.bundles.app.WAIT_SECONDS", 0.01)
    shelf = shelf_of(catalogue)
    shelf.error = InstallError("There is no network.", "Connect to one.")
    done = serve(who=lambda: who(catalogue, shelf)).run("bundles", "install", "shelf", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "bundle_not_installed")
    assert (done.json["error"]["message"], done.json["error"]["fix"]) == ("There is no network.", "Connect to one.")


def test_evaluations_are_listed_and_read(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "evaluations"
    folder.mkdir()
    (folder / "a b.jsonl").write_text('{"turns": [], "n": 1}\n{"turns": [], "n": 2}\n')
    (folder / "report.html").write_text("<p>")
    monkeypatch.setenv("WIREWRIGHT_EVALUATIONS", str(folder))
    remote = serve()
    listed = remote.run("eval", "results", "list", "--json").json["evaluations"]
    assert {(one["name"], one["kind"]) for one in listed} == {("a b.jsonl", "journal"), ("report.html", "report")}
    shown = remote.run("eval", "results", "show", "a b.jsonl", "--limit", "1")
    assert (shown.out, shown.err) == ('{"turns": [], "n": 1}\n', "2 lines in all; --offset 1 shows the next ones.\n")
    got = remote.run("eval", "results", "get", "report.html", "--out", tmp_path / "got.html", "--json")
    assert (got.json["size"], (tmp_path / "got.html").read_text()) == (3, "<p>")
    for command in (("show", "no.jsonl"), ("show", "report.html"), ("get", "no.html", "--out", str(tmp_path / "x"))):
        refused = remote.run("eval", "results", *command, "--json")
        assert refused.code == 1
        assert refused.json["error"]["code"] in ("evaluation_not_found", "not_a_journal")
    assert not (tmp_path / "x").exists()


def test_how_a_server_is_and_who_one_is_there(serve: Serve) -> None:
    remote = serve()
    done = remote.run("doctor")
    for said in (
        "Release: ",
        "Flow engine: ready",
        "Database: ready",
        "You: local (read, build, run, admin)",
        "Model:",
    ):
        assert said in done.out
    assert done.code == 0
    report = remote.run("doctor", "--json").json
    assert (report["ok"], report["server"], report["release"]) == (True, remote.url, report["own_release"])
    assert remote.run("doctor", "--bundle", "x.json", "--json").json["error"]["code"] == "not_remote"


def test_a_server_of_another_release_is_noticed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = serve()
    handle = httpx.HTTPTransport.handle_request

    def older(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/healthz":
            return httpx.Response(200, json={"ok": True, "release": "0.0.9"}, request=request)
        return handle(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", older)
    done = remote.run("doctor")
    assert done.code == 1
    assert "NO  Release: 0.0.9, and here " in done.out


@pytest.mark.parametrize(
    ("workers", "counts", "works"),
    [
        ({"turns": 1, "runs": 2, "evals": 0}, "1 for turns, 2 for runs, 0 for evals", True),
        ({"turns": 0, "runs": 0, "evals": 0}, "0 for turns, 0 for runs, 0 for evals", False),
    ],
)
def test_a_server_that_leaves_all_work_to_workers_says_how_many_are_there(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, workers: dict[str, int], counts: str, works: bool
) -> None:
    remote = serve()
    assert "Workers:" not in remote.run("doctor").out
    handle = httpx.HTTPTransport.handle_request

    def left_to_workers(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        response = handle(self, request)
        if request.url.path != "/readyz":
            return response
        return httpx.Response(200, json={**json.loads(response.read()), "workers": workers}, request=request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", left_to_workers)
    done = remote.run("doctor")
    assert f"{'ok' if works else 'NO'}  Workers: {counts}\n" in done.out
    assert ("-> No worker is there, so that what is asked for waits: wirewright worker" in done.out) is not works
    assert done.code == (0 if works else 1)
    report = remote.run("doctor", "--json").json
    assert (report["ok"], report["readiness"]["workers"]) == (works, workers)


def test_starter_flows_are_listed_and_stored_under_a_name(serve: Serve) -> None:
    remote = serve()
    assert remote.run("flow", "templates", "--json").json == remote.alone("flow", "templates", "--json").json
    assert remote.run("flow", "templates", "echo").out == remote.alone("flow", "templates", "echo").out
    assert remote.run("flow", "start", "echo", "Mine", "--json").json["name"] == "Mine"
    assert remote.run("flow", "duplicate", "Mine", "--json").json["name"] == "Mine (copy)"
    updated = remote.run("flow", "update-components", "Mine", "--json").json
    assert (updated["version"], updated["components"]) == (1, [])
    assert remote.run("flow", "start", "nope", "--json").json["error"]["code"] == "template_not_found"


def test_flows_of_an_earlier_engine_are_listed_and_updated_one_by_one(
    serve: Serve, catalogue: Catalogue, echo: JsonObject, tmp_path: Path
) -> None:
    remote, path, flow = serve(), tmp_path / "flow.json", flow_of(ECHO, catalogue)
    assert remote.run("flow", "list", "--stale", "--json").json == {"flows": [], "total": 0}
    assert "No flow that is stored there" in remote.run("flow", "list", "--stale").err
    path.write_text(json.dumps({**echo, "name": "New"}))
    remote.run("flow", "import", path)
    for name in ("Old 1", "Old 2"):
        path.write_text(json.dumps({**earlier(flow, node_id(flow, "ChatOutput")).to_json(), "name": name}))
        assert remote.run("flow", "import", path).code == 0
    listed = remote.run("flow", "list", "--stale", "--json").json
    assert listed["total"] == 2
    assert [(one["name"], one["stale"]) for one in listed["flows"]] == [(f"Old {at}", ["ChatOutput"]) for at in (2, 1)]
    assert len(remote.run("flow", "list", "--stale", "--limit", "1", "--json").json["flows"]) == 1
    shown = remote.run("flow", "list", "2", "--stale")
    assert ("Old 2" in shown.out, "ChatOutput" in shown.out, "Old 1" in shown.out) == (True, True, False)
    assert "wirewright flow update-components" in shown.err
    assert remote.run("flow", "update-components", "Old 2", "--json").json["version"] == 2
    assert [one["name"] for one in remote.run("flow", "list", "--stale", "--json").json["flows"]] == ["Old 1"]


def test_stored_flows_and_their_versions_are_compared_and_merged(
    serve: Serve, echo: JsonObject, tmp_path: Path
) -> None:
    remote, path = serve(), tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    path.write_text(json.dumps(echo).replace("Chat Input", "Ask here"))
    remote.run("flow", "import", path, "--replace", "Echo")
    assert remote.run("flow", "diff", "Echo@1", "Echo@1", "--json").json["same"] is True
    assert remote.run("flow", "diff", "Echo@2", path, "--json").json["same_work"] is True
    assert remote.run("flow", "diff", "Echo@1", path, "--json").json["same"] is False
    merged = remote.run("flow", "merge", "Echo@2", path, "--out", tmp_path / "both.json", "--json").json
    assert len(merged["flow"]["data"]["nodes"]) == 4
    assert remote.run("flow", "diff", "Echo@7", path, "--json").json["error"]["code"] == "revision_not_found"


def test_a_run_that_has_ended_cannot_be_cancelled(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote, path = serve(), tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    remote.run("flow", "run", "Echo", "--input", "hi")
    done = remote.run("runs", "cancel", "last", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "run_ended")
