"""`wirewright flow run` on the real engine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from tests.cli.conftest import Wirewright

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("warm_engine")]


def test_the_output_alone_is_printed_for_a_person(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, "--input", "bye")
    assert (done.code, done.out) == (0, "Say it louder: bye\n")


def test_the_result_has_every_key_and_the_ids_of_the_spec(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, "--input", "héllo\n2", "--json")
    assert done.code == 0
    assert set(done.json) == {"ok", "output", "outputs", "types", "metrics", "error"}
    assert (done.json["ok"], done.json["output"], done.json["error"]) == (True, "Say it louder: héllo\n2", None)
    assert done.json["outputs"] == {"answer": "Say it louder: héllo\n2"}
    metrics = done.json["metrics"]
    assert set(metrics) == {"seconds", "input_tokens", "output_tokens", "total_tokens", "model_calls", "peak_mb"}
    assert metrics["seconds"] > 0
    assert metrics["total_tokens"] == metrics["model_calls"] == 0


def test_outputs_are_named_by_node_ids_when_the_flow_is_langflow_json(
    wirewright: Wirewright, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "louder.json"
    assert wirewright("flow", "build", louder, "--out", target).code == 0
    done = wirewright("flow", "run", "-", "--input", "x", "--json", stdin=target.read_bytes())
    ids = [node["id"] for node in json.loads(target.read_bytes())["data"]["nodes"]]
    assert list(done.json["outputs"]) == [name for name in ids if name.startswith("ChatOutput-")]


def test_outputs_are_printed_as_json_without_a_chat_output(wirewright: Wirewright) -> None:
    spec = "nodes:\n  words: TextInput\nconfig:\n  words.input_value: kept\n"
    done = wirewright("flow", "run", "-", stdin=spec.encode())
    assert done.code == 0
    assert json.loads(done.out) == {"words": "kept"}


def test_a_failing_flow_is_a_full_document_that_names_the_node_as_the_spec_does(wirewright: Wirewright) -> None:
    spec = "nodes:\n  web: URLComponent\n  out: ChatOutput\nedges:\n  web.page_results -> out.input_value\n"
    done = wirewright("flow", "run", "-", "--json", stdin=spec.encode())
    assert done.code == 1
    assert done.json["ok"] is False
    assert set(done.json["error"]) == {"code", "message", "fix", "node"}
    assert done.json["error"]["node"] in ("web", None)
    assert "URLComponent-" not in done.json["error"]["message"]


def test_code_that_is_not_the_catalogues_is_refused_when_it_does_not_pass_the_guard(
    wirewright: Wirewright, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "louder.json"
    assert wirewright("flow", "build", louder, "--out", target).code == 0
    document = json.loads(target.read_bytes())
    document["data"]["nodes"][1]["data"]["node"]["template"]["code"]["value"] += "\nimport os\nos.abort()\n"
    done = wirewright("flow", "run", "-", "--json", stdin=json.dumps(document).encode())
    assert done.code == 1
    assert done.json["error"]["code"] == "refused"


def test_the_engine_is_installed_when_the_catalogue_is_missing(
    wirewright: Wirewright, runner_environment: RunnerEnvironment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The installation itself is tested with the runtime; here, that a command asks for it and goes on."""
    installed: list[RunnerEnvironment] = []

    async def install(environment: RunnerEnvironment, progress: object = None, *, repair: bool = False) -> None:
        installed.append(environment)
        environment.catalogue.parent.mkdir(parents=True)
        environment.catalogue.write_bytes(runner_environment.catalogue.read_bytes())

    monkeypatch.setattr(RunnerEnvironment, "install", install)
    monkeypatch.setattr("runtime.install.shipped.shipped_catalogue", lambda _: None)
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path / "fresh"))
    done = wirewright("components", "search", "prompt", "--json")
    assert done.code == 0
    assert done.json["matches"]
    assert len(installed) == 1


class _Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    """The host and port of a web service of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def asking(place: str) -> bytes:
    """A flow that asks a web service."""
    nodes = "nodes:\n  api: APIRequest\n  out: ChatOutput\nedges:\n  api.data -> out.input_value\n"
    return f"{nodes}config:\n  api.url_input: http://{place}/x\n".encode()


def test_the_hosts_of_a_run_are_named_with_bytes_both_ways(
    wirewright: Wirewright, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", "127.0.0.1")
    done = wirewright("flow", "run", "-", "--json", stdin=asking(service))
    assert done.code == 0, done.out
    [host] = done.json["hosts"]
    assert f"{host['host']}:{host['port']}" == service
    assert host["refused"] is False
    assert host["sent"] > len("GET /x HTTP/1.1")
    assert host["received"] > len("hello")
    shown = wirewright("flow", "run", "-", stdin=asking(service))
    assert f"Hosts of the run: {service} ({host['sent']} bytes sent, {host['received']} received)." in shown.err


def test_a_host_of_this_machine_is_refused_with_the_remedy_when_the_operator_does_not_name_it(
    wirewright: Wirewright, service: str
) -> None:
    done = wirewright("flow", "run", "-", "--json", stdin=asking(service))
    assert done.code == 1
    assert done.json["error"]["code"] == "refused"
    assert "WIREWRIGHT_RUN_HOSTS=127.0.0.1" in done.json["error"]["fix"]
    assert [(host["sent"], host["refused"]) for host in done.json["hosts"]] == [(0, True)]
    shown = wirewright("flow", "run", "-", stdin=asking(service))
    assert f"{service} (refused)" in shown.err


@pytest.mark.parametrize(("rule", "approved"), [("ask", True), ("deny", True), ("ask", False)])
def test_a_public_host_is_reached_as_the_operator_and_the_user_say(
    rule: str, approved: bool, wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_NETWORK", rule)
    options = ["--allow-host", "nowhere.invalid"] if approved else []
    done = wirewright("flow", "run", "-", "--json", *options, stdin=asking("nowhere.invalid"))
    assert done.code == 1
    looked_up = approved and rule == "ask"
    assert done.json["error"]["code"] == ("external" if looked_up else "refused")
    assert done.json["hosts"][0]["refused"] is not looked_up


def test_an_approved_host_must_be_one(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, "--allow-host", "https://api.example.com/", "--json")
    assert done.code == 2
    assert done.json["error"]["where"] == "--allow-host"
