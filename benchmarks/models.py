"""A warm run with a model node, through the gateway from a child of its own, beside lfx that asks a model directly."""

from time import perf_counter

from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted
from benchmarks.engine import Engine, line
from flows.catalogue import Catalogue
from flows.spec import build
from runtime.gateway.models import Models
from runtime.runner import Runner
from scripts.scripted_provider import Reply, ScriptedProvider

SPEC = """name: Model
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
ROUNDS = 40


async def measure(runner: Runner, catalogue: Catalogue, lfx: Engine) -> str:
    """Run by turns and compare the medians; ours is measured from call to result, and counted and confined."""

    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("hello")])

    flow = build(SPEC, catalogue).flow
    assert flow is not None
    model = scripted(plan, "scripted")
    models = Models(resolve=lambda _: model)
    ours: list[float] = []
    theirs: list[float] = []
    async with ScriptedProvider(lambda _: Reply(text="hello")).serve() as url:
        for _ in range(ROUNDS):
            started = perf_counter()
            result = await runner.run(flow, "hello", models=models, network="gateway-only")
            ours.append((perf_counter() - started) * 1000)
            assert result.output == "hello", result.error
            theirs.append(await lfx.ask(do="run", flow=flow.to_json(), text="hello", url=url))
    return line("warm run with a model node, by the gateway and direct", ours[10:], theirs[10:], "target: at most 1.5")
