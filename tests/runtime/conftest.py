"""What the tests of running share: the installed engine, flows made from catalogue types, an engine that misbehaves."""

import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from flows.json_values import as_list, as_object
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.shared import kernel

MakeFlow = Callable[..., Flow]


@pytest.fixture
def runner(engine: Runner) -> Runner:
    """What runs flows."""
    return engine


@pytest.fixture(scope="session")
def active() -> frozenset[str]:
    """The protections that must hold on this machine, whatever the product says."""
    return kernel.must_hold()


@pytest.fixture(scope="session")
def installed_catalogue(runner_environment: RunnerEnvironment) -> Catalogue:
    """The whole catalogue, as the installed engine exported it."""
    return Catalogue.load(runner_environment.catalogue)


def make_node(catalogue: Catalogue, node_id: str, kind: str, values: Mapping[str, Json]) -> JsonObject:
    known = catalogue.get(kind)
    assert known is not None
    definition = copy.deepcopy(known.definition)
    for name, value in values.items():
        as_object(as_object(definition["template"])[name])["value"] = value
    return {
        "id": node_id,
        "type": "genericNode",
        "position": {"x": 0, "y": 0},
        "data": {"id": node_id, "type": kind, "node": definition},
    }


def make_edge(catalogue: Catalogue, kinds: Mapping[str, str], edge: Sequence[str]) -> JsonObject:
    source, port, target, field = edge
    known, entered = catalogue.get(kinds[source]), catalogue.get(kinds[target])
    assert known is not None
    assert entered is not None
    output = next(output for output in known.outputs if output["name"] == port)
    taken = entered.template[field]
    return {
        "id": f"{source}-{port}-{target}-{field}",
        "source": source,
        "target": target,
        "data": {
            "sourceHandle": {
                "dataType": kinds[source],
                "id": source,
                "name": port,
                "output_types": as_list(output["types"]),
            },
            "targetHandle": {
                "fieldName": field,
                "id": target,
                "inputTypes": as_list(taken.get("input_types")),
                "type": taken.get("type"),
            },
        },
    }


@pytest.fixture(scope="session")
def make_flow(installed_catalogue: Catalogue) -> MakeFlow:
    """Make a flow of `{id: type or (type, values)}` and edges `(source, port, target, field)`."""

    def make(
        nodes: Mapping[str, str | tuple[str, Mapping[str, Json]]], edges: Sequence[tuple[str, str, str, str]] = ()
    ) -> Flow:
        parts: dict[str, tuple[str, Mapping[str, Json]]] = {
            node_id: (kind, {}) if isinstance(kind, str) else kind for node_id, kind in nodes.items()
        }
        kinds = {node_id: kind for node_id, (kind, _) in parts.items()}
        made: list[Json] = [make_node(installed_catalogue, node_id, *part) for node_id, part in parts.items()]
        wired: list[Json] = [make_edge(installed_catalogue, kinds, edge) for edge in edges]
        return Flow.from_json({"name": "Test", "data": {"nodes": made, "edges": wired}})

    return make


@pytest.fixture(scope="session")
def echo(make_flow: MakeFlow) -> Flow:
    return make_flow(
        {"ChatInput-a": "ChatInput", "ChatOutput-b": "ChatOutput"},
        [("ChatInput-a", "message", "ChatOutput-b", "input_value")],
    )


COMPONENT = """
import os, signal, sys, threading, time, subprocess
from pathlib import Path
from lfx.custom.custom_component.component import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.data import Data
from lfx.schema.message import Message


class CustomComponent(Component):
    display_name = "Custom Component"
    name = "CustomComponent"
    inputs = [MessageTextInput(name="input_value", display_name="Input Value", value="")]
    outputs = [Output(display_name="Output", name="output", method="build_output")]

    def build_output(self) -> Data:
{body}
"""


@pytest.fixture(scope="session")
def make_code(make_flow: MakeFlow) -> Callable[[str], JsonObject]:
    """Nodes and edges of one component that does what a Python body says: code that admission would refuse."""

    def make(body: str) -> JsonObject:
        code = COMPONENT.format(body="\n".join(f"        {line}" for line in body.strip("\n").split("\n")))
        return as_object(make_flow({"CustomComponent-x": ("CustomComponent", {"code": code})}).to_json()["data"])

    return make


@dataclass(frozen=True)
class FakeEnvironment(RunnerEnvironment):
    """An environment whose engine is a script of the test's own."""

    script: Path = Path()
    repairs: tuple[list[bool], ...] = ()

    @property
    def python(self) -> Path:
        return Path(sys.executable)

    @property
    def main(self) -> Path:
        return self.script

    async def install(self, progress: Callable[[str], None] | None = None, *, repair: bool = False) -> None:
        for log in self.repairs:
            log.append(repair)


FAKE_HEAD = """
import json, os, select, socket, sys, time
HELD = ["files", "privileges", "system calls", "ports"]
HELLO = {"type": "hello", "protocol": 4, "lfx": "0", "pid": os.getpid(), "held": HELD, "landlock": 4}
control = socket.socket(fileno=os.dup(0))
connections = {}
PID = 999999999
def say(message):
    control.sendall((json.dumps(message) + "\\n").encode())
def started(request):
    connections[request["id"]].sendall(json.dumps({"type": "confined", "held": HELD, "landlock": 4}).encode() + b"\\n")
def result(request, output):
    answer = {"type": "result", "output": output, "outputs": {}, "nodes": {}, "metrics": {}, "failure": None}
    connections[request["id"]].sendall(json.dumps(answer, separators=(",", ":")).encode() + b"\\n")
    end(request["id"])
def end(number, code=0):
    if number in connections:
        connections.pop(number).close()
        say({"type": "ended", "id": number, "code": code, "peak_mb": 1})
def read(number):
    with connections[number].makefile("rb") as incoming:
        line = incoming.readline()
        if not line:
            end(number)
            return None
        policy = json.loads(line)
        started({"id": number})
        return {**json.loads(incoming.read(policy["request"])), "id": number}
def requests():
    held = b""
    while True:
        for ready in select.select([control, *connections.values()], [], [])[0]:
            if ready is control:
                data, passed, _, _ = socket.recv_fds(control, 1 << 16, 1)
                if not data: return
                *lines, held = (held + data).split(b"\\n")
                for command in map(json.loads, lines):
                    if command["type"] == "fork":
                        connections[command["id"]] = socket.socket(fileno=passed.pop())
                        say({"type": "forked", "id": command["id"], "pid": PID})
                    else:
                        yield command
                        if command["type"] == "kill": end(command["id"], -9)
                        if command["type"] == "shutdown": return
            elif (number := next((n for n, each in connections.items() if each is ready), None)) is not None:
                if (request := read(number)) is not None: yield request
"""


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], FakeEnvironment]:
    """An environment whose engine runs the given Python after a few definitions."""

    def make(body: str) -> FakeEnvironment:
        script = tmp_path / "engine.py"
        script.write_text(FAKE_HEAD + body, encoding="utf-8")
        return FakeEnvironment(source=tmp_path, cache=tmp_path, digest="fake", script=script, repairs=([],))

    return make
