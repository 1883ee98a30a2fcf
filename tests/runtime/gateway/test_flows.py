"""Model calls of real flows on the real engine, answered by scripted models through the gateway."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai import exceptions as ai
from pydantic_ai.embeddings.test import TestEmbeddingModel
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.models.scripted import Plan, call, last_prompt, scripted, tool_returns
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.json_values import as_list, as_object
from flows.spec import build
from runtime.gateway.models import Budget, Models, ModelUnavailable
from runtime.results import RunResult
from runtime.runner import Runner
from tests.shared.flow_texts import MODEL, flow_of

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

Spec = Callable[[str], Flow]

CONFIGURED = f"""{MODEL}config:
  m.model: claude-x
  m.system_message: Be kind.
  m.temperature: 0.25
"""
OPENAI = """name: OpenAI
nodes:
  a: ChatInput
  m: ext:openai:OpenAIModelComponent@official
  b: ChatOutput
edges:
  a.message -> m.input_value
  m.text_output -> b.input_value
"""
AGENT = """name: Agent
nodes:
  a: ChatInput
  g: Agent
  c: CalculatorComponent
  b: ChatOutput
edges:
  a.message -> g.input_value
  c.component_as_tool -> g.tools
  g.response -> b.input_value
config:
  g.model: gpt-x
"""


@pytest.fixture(scope="session")
def spec(installed_catalogue: Catalogue) -> Spec:
    return lambda text: flow_of(text, installed_catalogue)


def echoing(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(f"You said {last_prompt(messages)}.")])


def models(plan: Plan = echoing, **more: Any) -> Models:
    return Models(resolve=lambda name: scripted(plan, name), embed=lambda _: TestEmbeddingModel(), **more)


def failing(error: Exception) -> Models:
    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise error

    return models(plan)


def spent(result: RunResult, kind: str) -> int:
    """Calls that were counted for the one node of a type."""
    [calls] = [usage.calls for node, usage in result.usage.items() if node.startswith(kind)]
    return calls


@pytest.mark.parametrize("network", ["open", "gateway-only"])
@pytest.mark.parity("ADR-019", "base-scenario-run-metrics", "scenario-run-metrics")
async def test_a_language_model_node_is_answered_and_counted(network: Any, runner: Runner, spec: Spec) -> None:
    asked: list[tuple[list[ModelMessage], AgentInfo]] = []

    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append((messages, info))
        return echoing(messages, info)

    result = await runner.run(spec(CONFIGURED), "hello", network=network, models=models(plan))
    assert result.error is None
    assert result.output == "You said hello."
    [(messages, info)] = asked
    assert [getattr(part, "content", None) for part in messages[0].parts] == ["Be kind.", "hello"]
    assert (info.model_settings or {}).get("temperature") == 0.25
    assert result.metrics.model_calls == spent(result, "LanguageModelComponent") == 1
    assert result.metrics.total_tokens == sum(usage.total_tokens for usage in result.usage.values()) > 0


async def test_a_node_that_streams_is_answered(runner: Runner, spec: Spec) -> None:
    result = await runner.run(spec(CONFIGURED + "  m.stream: true\n"), "one two three", models=models())
    assert result.output == "You said one two three."


async def test_an_agent_calls_its_tools_over_several_steps(runner: Runner, spec: Spec) -> None:
    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        if len(done) < 2:
            step = len(done) + 1
            return ModelResponse(parts=[call("evaluate_expression", step, expression=f"10*{step}")])
        return ModelResponse(parts=[TextPart(" and ".join(str(part.content) for part in done))])

    result = await runner.run(spec(AGENT), "go", network="gateway-only", models=models(plan))
    assert result.error is None
    assert result.output == '{"result": "10"} and {"result": "20"}'
    assert result.metrics.model_calls == spent(result, "Agent") == 3


async def test_an_agent_calls_several_tools_at_once(runner: Runner, spec: Spec) -> None:
    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        if not done:
            return ModelResponse(
                parts=[
                    TextPart("Both."),
                    call("evaluate_expression", 1, expression="1+1"),
                    call("evaluate_expression", 2, expression="2+2"),
                ]
            )
        return ModelResponse(parts=[TextPart(", ".join(f"{part.tool_call_id}={part.content}" for part in done))])

    result = await runner.run(spec(AGENT), "go", models=models(plan))
    one, two = "call_1_1_evaluate_expression", "call_1_2_evaluate_expression"
    assert result.output is not None
    assert f'{one}={{"result": "2"}}, {two}={{"result": "4"}}' in result.output


async def test_a_router_takes_the_way_that_the_model_names(runner: Runner, spec: Spec) -> None:
    flow = spec(
        "name: R\nnodes:\n  a: ChatInput\n  r: SmartRouter\n  x: ChatOutput\n  y: TextOutput\nedges:\n"
        "  a.message -> r.input_text\n  r.category_1_result -> y.input_value\n  r.category_2_result -> x.input_value\n"
        "config:\n  r.model: gpt-x\n"
    )

    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Negative")])

    result = await runner.run(flow, "It broke.", network="gateway-only", models=models(plan))
    assert (result.error, result.output, list(result.outputs)) == (None, "It broke.", [flow.nodes[2].id])


async def test_a_batch_asks_once_a_row(runner: Runner, spec: Spec) -> None:
    flow = spec(
        "name: B\nnodes:\n  a: ChatInput\n  s: SplitText\n  r: BatchRunComponent\nedges:\n"
        "  a.message -> s.data_inputs\n  s.dataframe -> r.df\n"
        "config:\n  s.chunk_size: 3\n  s.chunk_overlap: 0\n  s.separator: ','\n"
        "  r.model: gpt-x\n  r.column_name: text\n"
    )
    result = await runner.run(flow, "one,two,six", network="gateway-only", models=models())
    assert result.error is None
    [rows] = result.outputs.values()
    assert [as_object(row)["model_response"] for row in as_list(rows)] == [
        "You said one.",
        "You said two.",
        "You said six.",
    ]
    assert result.metrics.model_calls == 3


async def test_structured_output_is_extracted(runner: Runner, installed_catalogue: Catalogue) -> None:
    columns = [{"name": "age", "type": "int", "description": "years", "multiple": "False"}]
    built = build(
        "name: S\nnodes:\n  a: ChatInput\n  s: StructuredOutput\nedges:\n  a.message -> s.input_value\n"
        f"config:\n  s.model: gpt-x\n  s.output_schema: {json.dumps(columns)}\n",
        installed_catalogue,
    )
    assert built.flow is not None, built.faults

    def plan(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if info.function_tools:
            return ModelResponse(parts=[ToolCallPart(info.function_tools[0].name, {"objects": [{"age": 36}]}, "c1")])
        return ModelResponse(parts=[TextPart('{"objects": [{"age": 36}]}')])

    result = await runner.run(built.flow, "Ada is 36.", network="gateway-only", models=models(plan))
    assert result.error is None
    assert "36" in json.dumps(dict(result.outputs))


@pytest.mark.parametrize("kind", ["EmbeddingModel", "ext:openai:OpenAIEmbeddingsComponent@official"])
async def test_an_embedding_component_is_answered(kind: str, runner: Runner, spec: Spec) -> None:
    config = "  e.model: openai:text-embedding-x\n" if kind == "EmbeddingModel" else ""
    flow = spec(
        f"name: E\nnodes:\n  a: ChatInput\n  e: {kind}\n  t: TextEmbedderComponent\nedges:\n"
        "  a.message -> t.message\n  e.embeddings -> t.embedding_model\n"
        f"config:\n  t.message: x\n{config}"
    )
    result = await runner.run(flow, "hello", network="gateway-only", models=models())
    assert result.error is None
    assert "1.0" in json.dumps(dict(result.outputs))
    assert result.metrics.model_calls == 1


async def test_a_component_of_one_provider_is_answered(runner: Runner, spec: Spec) -> None:
    result = await runner.run(spec(OPENAI), "hello", network="gateway-only", models=models())
    assert (result.error, result.output) == (None, "You said hello.")


def http(category: Any, status: int) -> ai.ModelHTTPError:
    return ai.ModelHTTPError.for_category(category, status_code=status, model_name="m")


@pytest.mark.parametrize("flow", [CONFIGURED, AGENT, OPENAI], ids=["model", "agent", "openai"])
@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (http(ai.ModelAuthenticationError, 401), "missing_key"),
        (http(ai.ModelNotFoundError, 404), "missing_model"),
        (http(ai.ModelContextWindowExceededError, 400), "limit"),
        (http(ai.ModelQuotaExceededError, 429), "external"),
    ],
)
async def test_a_failing_model_fails_the_run_with_its_class(
    raised: Exception, code: str, flow: str, runner: Runner, spec: Spec
) -> None:
    result = await runner.run(spec(flow), "hello", models=failing(raised))
    assert result.error is not None
    assert result.error.code == code
    assert result.error.message
    assert result.error.fix
    assert result.error.node == spec(flow).nodes[1].id
    assert "variable" not in result.error.message
    assert "sk-run" not in json.dumps(result.to_json())


async def test_an_agent_that_never_ends_stops_at_the_budget(runner: Runner, spec: Spec) -> None:
    def plan(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[call("evaluate_expression", len(messages), expression="1+1")])

    result = await runner.run(spec(AGENT), "go", models=models(plan, budget=Budget(calls=4)))
    assert result.error is not None
    assert (result.error.code, result.metrics.model_calls) == ("limit", 4)
    assert "4 model calls" in result.error.message


async def test_a_run_without_models_says_that_it_has_none(runner: Runner, spec: Spec) -> None:
    result = await runner.run(spec(CONFIGURED), "hello")
    assert result.error is not None
    assert (result.error.code, result.error.node) == ("missing_model", spec(CONFIGURED).nodes[1].id)


async def test_an_unavailable_model_is_reported_before_the_run(runner: Runner, spec: Spec) -> None:
    def resolve(name: str) -> Any:
        raise ModelUnavailable(f"The demo does not answer {name}.", "Set a key.")

    result = await runner.run(spec(CONFIGURED), "hello", models=Models(resolve=resolve))
    assert result.error is not None
    assert result.error.code == "missing_model"
    assert result.error.message == "The demo does not answer anthropic:claude-x."
    assert result.metrics.model_calls == 0


async def test_a_call_that_hangs_ends_with_the_run(runner: Runner, spec: Spec) -> None:
    left = asyncio.Event()

    async def hang(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        raise AssertionError

    hanging = Models(resolve=lambda _: FunctionModel(hang))
    result = await runner.run(spec(CONFIGURED), "hello", timeout=2, models=hanging)
    assert result.error is not None
    assert result.error.code == "timeout"
    await asyncio.wait_for(left.wait(), 10)


async def test_what_was_spent_is_counted_when_the_run_ends_early(runner: Runner, spec: Spec) -> None:
    flow = spec(
        "name: T\nnodes:\n  a: ChatInput\n  m: LanguageModelComponent\n  n: LanguageModelComponent\n  b: ChatOutput\n"
        "edges:\n  a.message -> m.input_value\n  m.text_output -> n.input_value\n  n.text_output -> b.input_value\n"
        "config:\n  m.model: openai:first\n  n.model: openai:second\n"
    )

    async def hang(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        await asyncio.Event().wait()
        raise AssertionError

    def resolve(name: str) -> FunctionModel:
        return scripted(echoing, name) if name.endswith("first") else FunctionModel(hang)

    result = await runner.run(flow, "hello", timeout=5, models=Models(resolve=resolve))
    assert result.error is not None
    assert result.error.code == "timeout"
    assert result.metrics.model_calls == sum(usage.calls for usage in result.usage.values()) == 1
    assert result.metrics.total_tokens > 0
    assert result.metrics.seconds > 0
    assert result.metrics.peak_mb > 0


async def test_runs_at_the_same_time_keep_their_models_apart(runner: Runner, spec: Spec) -> None:
    def saying(word: str) -> Models:
        def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
            return ModelResponse(parts=[TextPart(word)])

        return models(plan)

    results = await asyncio.gather(*(runner.run(spec(CONFIGURED), "x", models=saying(f"w{n}")) for n in range(6)))
    assert [result.output for result in results] == [f"w{n}" for n in range(6)]
    assert [result.metrics.model_calls for result in results] == [1] * 6
