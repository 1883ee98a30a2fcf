"""`wirewright flow run --server`, and what is listed of it afterwards."""

import json
from pathlib import Path

from flows.document import JsonObject
from runtime.run_events import NodeFinished, NodeStarted
from tests.cli.remote.conftest import Serve


def test_a_stored_flow_runs_by_its_name_and_is_listed(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    path = tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    done = remote.run("flow", "run", "Echo", "--input", "hi")
    assert (done.code, done.out, done.err) == (0, "hello\n", "")
    assert [text for _, text in remote.runner.asked] == ["hi"]
    (run,) = remote.run("runs", "list", "--json").json["runs"]
    assert (run["name"], run["input"], run["output"], run["source"]) == ("Echo", "hi", "hello", "http")
    assert remote.run("runs", "show", run["id"][:6], "--json").json == run
    assert remote.run("runs", "show", "last").out.startswith("Echo (")
    assert remote.alone("runs", "list", "--json").json == {"runs": [], "total": 0}
    assert remote.run("usage", "--json").json["total"]["runs"] == 1
    assert remote.run("runs", "remove", "--all", "--json").json == {"removed": 1}
    gone = remote.run("runs", "show", run["id"], "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "run_not_found")


def test_events_and_tweaks_are_as_on_this_machine(serve: Serve, echo: JsonObject, tmp_path: Path) -> None:
    remote = serve()
    remote.runner.events = [NodeStarted(node="a"), NodeFinished(node="a", seconds=0.5)]
    path = tmp_path / "echo.json"
    path.write_text(json.dumps({**echo, "name": "Echo"}))
    remote.run("flow", "import", path)
    done = remote.run("flow", "run", "Echo", "--events", "--json", "--tweak", "Chat Output.sender_name=Bot")
    assert done.code == 0, done
    assert [line.get("event") for line in done.lines] == ["node_started", "node_finished", None]
    assert done.lines[-1]["output"] == "hello"
    (tweaks,) = remote.runner.tweaks
    assert tweaks is not None
    assert list(tweaks.values()) == [{"sender_name": "Bot"}]
    wrong = remote.run("flow", "run", "Echo", "--tweak", "Nobody.x=1", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "bad_tweak")


def test_a_flow_that_is_not_stored_is_named_with_the_remedy(serve: Serve) -> None:
    remote = serve()
    done = remote.run("flow", "run", "nothing", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "flow_not_found")
    assert done.json["error"]["fix"] == f"wirewright flow list --server {remote.url} lists the stored flows."
