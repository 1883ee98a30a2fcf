"""Warm runs in confined children, beside the engine's own process; `python -m benchmarks.runs` measures these alone."""

import asyncio
import json
import os
import sys
import tempfile
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from benchmarks import pace
from benchmarks.against.process import Worker
from benchmarks.direct_lfx import engine, line
from benchmarks.serving import descendants, memory_of, serve, settle
from benchmarks.specs import ECHO, built
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.install.environment import RunnerEnvironment
from runtime.options import RunOptions
from runtime.runner import Runner
from scripts.checkout import checkout_environment
from scripts.scripted_provider import Reply, ScriptedProvider

MODEL = """name: Model
nodes:
  a: ChatInput
  m: LanguageModelComponent
  b: ChatOutput
edges:
  a.message -> m.input_value
  m.text_output -> b.input_value
config:
  m.model: openai:scripted
  m.api_key: sk-scripted
"""
ROUNDS = 60
JSON_BODY = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
WARM = 10


async def measure(runner: Runner, catalogue: Catalogue, lfx: Worker) -> list[str]:
    """Run alternately and compare the medians; ours is measured from call to result."""

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("hello")])

    model = scripted(answer, "scripted")
    echo, open_network = built(ECHO, catalogue), RunOptions()
    gateway = RunOptions(models=Models(resolve=lambda _: model), network="gateway-only")
    lines = [await _compared("warm echo run, in a confined child and in process", runner, echo, open_network, lfx)]
    lines.append(await _by_http(echo, lfx))
    lines.append(await _two_at_a_time(runner, echo, open_network))
    lines.append(await _at_rest(RunnerEnvironment.locate()))
    async with ScriptedProvider(lambda _: Reply(text="hello")).serve() as url:
        name, flow = "warm run with a model node, by the gateway and direct", built(MODEL, catalogue)
        return [*lines, await _compared(name, runner, flow, gateway, lfx, url=url)]


async def _compared(name: str, runner: Runner, flow: Flow, options: RunOptions, lfx: Worker, **more: str) -> str:
    document = flow.to_json()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        result = await runner.execute(flow, "hello", options)
        ours.append((perf_counter() - started) * 1000)
        assert result.output == "hello", result.error
        theirs.append(await lfx.ask("run", flow=document, text="hello", **more))
    return line(
        name, ours[WARM:], theirs[WARM:], "target: at most 1.25" if "model" not in name else "target: at most 1.5"
    )


async def _by_http(flow: Flow, lfx: Worker) -> str:
    """Run a stored flow by a server's HTTP interface, from the request to the whole reply.

    The requests are sent by the standard library's client: what a richer one does itself is nothing of the server's.
    """
    ours: list[float] = []
    theirs: list[float] = []
    body = json.dumps({"input_value": "hello"})
    with tempfile.TemporaryDirectory() as data:
        variables = {**os.environ, "WIREWRIGHT_DATA": data}
        async with serve(Path(sys.executable).with_name("wirewright"), variables) as served:
            await served.at_rest()
            stored = (await served.client.post("/api/v1/flows", json=flow.to_json())).json()["id"]
            url, headers = served.client.base_url, dict(served.client.headers)
            connection = HTTPConnection(url.host, url.port)
            for _ in range(ROUNDS):
                started = perf_counter()
                connection.request("POST", f"/api/v1/flows/{stored}/run", body, headers | JSON_BODY)
                reply = json.loads(connection.getresponse().read())
                ours.append((perf_counter() - started) * 1000)
                assert reply["output"] == "hello", reply
                theirs.append(await lfx.ask("run", flow=flow.to_json(), text="hello"))
    return line("the same by a server's HTTP interface", ours[WARM:], theirs[WARM:], "target: at most 1.25")


async def _two_at_a_time(runner: Runner, flow: Flow, options: RunOptions) -> str:
    """Pairs of runs, alternately one after the other and both at once."""
    apart: list[float] = []
    together: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        for _ in range(2):
            assert (await runner.execute(flow, "hello", options)).ok
        apart.append((perf_counter() - started) * 1000)
        started = perf_counter()
        both = await asyncio.gather(*(runner.execute(flow, "hello", options) for _ in range(2)))
        together.append((perf_counter() - started) * 1000)
        assert all(one.ok for one in both)
    one, two = median(apart[WARM:]), median(together[WARM:])
    return (
        f"{'two runs at a time':<58} apart {one:7.2f} ms   together {two:4.2f} ms   {one / two:.2f} times as fast   "
        "(target: at least 1.5)"
    )


async def _at_rest(environment: RunnerEnvironment) -> str:
    """What an engine and the one process that waits for a run hold, once neither works."""
    async with Runner(environment, concurrency=1) as runner:
        assert await runner.ready()
        await asyncio.to_thread(settle, os.getpid())
        assert runner.engine_pid is not None
        waiting = descendants(runner.engine_pid)
        whole = await asyncio.to_thread(memory_of, runner.engine_pid, *waiting)
        alone = await asyncio.to_thread(memory_of, runner.engine_pid)
    name = f"the engine at rest with {len(waiting)} waiting process"
    return f"{name:<58} {whole:.0f} MB, {alone:.0f} of them its own (PSS)   (target: at most 300 MB)"


async def main() -> None:
    """Measure, and print."""
    environment = RunnerEnvironment.locate()
    await environment.install(print)
    print(pace.measure())
    catalogue = Catalogue.load()
    async with engine(environment) as lfx, Runner(environment, catalogue=catalogue) as runner:
        assert await runner.ready()
        await asyncio.to_thread(settle, os.getpid())
        print(*await measure(runner, catalogue, lfx), sep="\n")


if __name__ == "__main__":
    with checkout_environment():
        asyncio.run(main())
