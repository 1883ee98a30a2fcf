"""Warm runs in confined children, beside the engine's own process."""

from time import perf_counter

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from benchmarks.against.process import Worker
from benchmarks.engine import line
from benchmarks.specs import ECHO, built
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import RunOptions
from runtime.runner import Runner
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
WARM = 10


async def measure(runner: Runner, catalogue: Catalogue, lfx: Worker) -> list[str]:
    """Run alternately and compare the medians; ours is measured from call to result."""

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("hello")])

    model = scripted(answer, "scripted")
    echo, open_network = built(ECHO, catalogue), RunOptions()
    gateway = RunOptions(models=Models(resolve=lambda _: model), network="gateway-only")
    lines = [await _compared("warm echo run, in a confined child and in process", runner, echo, open_network, lfx)]
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
    return line(name, ours[WARM:], theirs[WARM:], "target: at most 1.5")
