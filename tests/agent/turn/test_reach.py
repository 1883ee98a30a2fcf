"""What a run reaches once others' text was read: what the user named or approved, however its address came about."""

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic_ai import ToolApproved, ToolCallPart, ToolDenied

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.turn.request import Answer
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, play
from tools.approvals import OutboundApproval

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

RUN = '{"intent": "run_flow", "mandate": {"run": []}}'
JOINED = """\
name: A stranger's flow
nodes:
  question: ChatInput
  address: Prompt Template
  api: APIRequest
  answer: ChatOutput
edges:
  question.message -> address.part
  address.prompt -> api.url_input
  api.data -> answer.input_value
config:
  address.template: "http://{part}"
"""


@dataclass
class Service:
    """A web service of this machine."""

    port: int = 0
    paths: list[str] = field(default_factory=list[str])


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.paths.append(self.path)
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


@pytest.fixture(scope="module")
async def named(runner_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    """A runner whose operator lets runs reach services of this machine."""
    async with Runner(runner_environment, private_hosts=("127.0.0.0/30",)) as made:
        assert await made.ready(180)
        yield made


@pytest.fixture(scope="module")
def installed(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


def obedient(runner: Runner, catalogue: Catalogue, folder: Path, *calls: ToolCallPart) -> Assistant:
    """An assistant whose model makes these calls, one in each step."""
    model = ScriptedModel(
        RUN, *calls, "It ran.", RUN, call("run_flow", 9, input=calls[0].args_as_dict()["input"]), "OK"
    )
    return Assistant(ServerSettings(data=folder), runner, catalogue=catalogue, model=model)


def flow_of(catalogue: Catalogue, spec: str) -> Flow:
    built = build(spec, catalogue)
    assert built.flow is not None, built.faults
    return built.flow


def asked(result: TurnResult) -> list[str]:
    """The hosts that a turn asks about."""
    return [host for one in result.approvals.values() if isinstance(one, OutboundApproval) for host in one.hosts]


async def test_a_run_that_was_refused_a_host_asks_and_reaches_it_when_the_user_agrees(
    named: Runner, installed: Catalogue, service: Service, tmp_path: Path
) -> None:
    order = call("run_flow", 1, input=f"127.0.0.1:{service.port}/?q=secret")
    who = obedient(named, installed, tmp_path, order)
    waiting = await play(who, "Run it", flow_of(installed, JOINED), apply="always")
    assert (asked(waiting), service.paths) == (["127.0.0.1"], [])
    [run] = waiting.runs
    assert [(host.host, host.refused) for host in run.hosts] == [("127.0.0.1", True)]
    answers: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolApproved())
    done = await play(who, answers=answers)
    assert (asked(done), service.paths, done.runs[-1].ok) == ([], ["/?q=secret"], True)
    again = await play(who, "Run it", done.after)
    assert (asked(again), len(service.paths)) == ([], 2), "what was approved is the user's own from then on"


async def test_a_run_reaches_nothing_when_the_user_does_not_agree(
    named: Runner, installed: Catalogue, service: Service, tmp_path: Path
) -> None:
    who = obedient(named, installed, tmp_path, call("run_flow", 1, input=f"127.0.0.1:{service.port}"))
    waiting = await play(who, "Run it", flow_of(installed, JOINED))
    assert asked(waiting) == ["127.0.0.1"], waiting.error
    denied: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolDenied())
    done = await play(who, answers=denied)
    assert (done.outcome, asked(done), service.paths) == ("complete", [], [])


async def test_a_run_reaches_what_the_message_names(
    named: Runner, installed: Catalogue, service: Service, tmp_path: Path
) -> None:
    who = obedient(named, installed, tmp_path, call("run_flow", 1, input=f"127.0.0.1:{service.port}/x"))
    done = await play(who, f"Run it with 127.0.0.1:{service.port}/x", flow_of(installed, JOINED))
    assert (asked(done), service.paths) == ([], ["/x"])
