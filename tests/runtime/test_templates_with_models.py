"""Every starter flow that needs a model runs on the real engine, its models scripted behind the gateway."""

from typing import Any

import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import Plan, call, last_prompt, scripted, tool_returns
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from flows.templates import template, templates
from runtime.gateway.models import Models
from runtime.results import RunResult
from runtime.runner import Runner

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


def models(plan: Plan) -> Models:
    return Models(resolve=lambda name: scripted(plan, name))


def made(name: str, catalogue: Catalogue) -> Flow:
    built = build(template(name).spec, catalogue)
    assert built.flow is not None, built.faults
    return built.flow


async def ran(runner: Runner, catalogue: Catalogue, name: str, text: str, plan: Plan) -> RunResult:
    """The result of a template's run in which nothing but the gateway can be reached."""
    result = await runner.run(made(name, catalogue), text, network="gateway-only", models=models(plan))
    assert result.error is None
    assert sum(usage.calls for usage in result.usage.values()) == result.metrics.model_calls > 0
    return result


def words(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def tools(info: AgentInfo) -> list[str]:
    return sorted(tool.name for tool in info.function_tools)


def system(messages: list[ModelMessage]) -> str:
    return " ".join(part.content for message in messages for part in message.parts if part.part_kind == "system-prompt")


async def test_the_agent_with_tools_uses_one_and_answers(runner: Runner, installed_catalogue: Catalogue) -> None:
    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {"evaluate_expression", "fetch_content"} <= set(tools(info))
        if not (done := tool_returns(messages)):
            return ModelResponse(parts=[call("evaluate_expression", 1, expression="6*7")])
        return words(f"So: {done[0].content}")

    result = await ran(runner, installed_catalogue, "agent-with-tools", "What is 6 times 7?", plan)
    assert result.output == 'So: {"result": "42"}'


async def test_the_agent_team_gives_the_calculation_to_its_second_agent(
    runner: Runner, installed_catalogue: Catalogue
) -> None:
    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = tool_returns(messages)
        if "lead a team" in system(messages):
            assert "evaluate_expression" not in tools(info)
            if done:
                return words(f" The lead read: {done[0].content}")
            return ModelResponse(parts=[call("Call_Agent_message_response", 1, input_value="Work out 6*7.")])
        assert last_prompt(messages) == "Work out 6*7."
        return words("It is 42.") if done else ModelResponse(parts=[call("evaluate_expression", 2, expression="6*7")])

    result = await ran(runner, installed_catalogue, "agent-team", "What is 6 times 7?", plan)
    # the engine puts what an inner agent says before the words of the agent that called it
    assert result.output == "It is 42. The lead read: It is 42."
    assert sorted(usage.calls for usage in result.usage.values()) == [2, 2]


async def test_the_agent_chain_hands_the_draft_of_the_first_to_the_second(
    runner: Runner, installed_catalogue: Catalogue
) -> None:
    def plan(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return words(f"{'edited' if 'editor' in system(messages) else 'drafted'}({last_prompt(messages)})")

    result = await ran(runner, installed_catalogue, "agent-chain", "bees", plan)
    assert result.output == "edited(drafted(bees))"


async def test_extraction_says_the_fields_that_the_model_read(runner: Runner, installed_catalogue: Catalogue) -> None:
    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        [form] = info.function_tools
        fields = form.parameters_json_schema["$defs"]
        assert any({"customer", "due", "amount"} <= set(one["properties"]) for one in fields.values())
        assert last_prompt(messages) == "Ada owes us 12.50, due 1 December 2026."
        found: list[dict[str, Any]] = [{"customer": "Ada", "due": "2026-12-01", "amount": 12.5}]
        return ModelResponse(parts=[call(form.name, 1, objects=found)])

    result = await ran(
        runner, installed_catalogue, "extraction", "Ada owes us 12.50, due 1 December 2026.", plan
    )  # fmt: skip
    assert result.output == "Ada pays 12.5 by 2026-12-01."


@pytest.mark.parametrize(
    ("name", "text", "output"),
    [
        ("batch", "good\nbad", "good: <good>\nbad: <bad>"),
        ("prompt-chain", "bees", None),
        ("memory-chat", "hello", None),
    ],
)
async def test_the_other_templates_ask_their_models(
    name: str, text: str, output: str | None, runner: Runner, installed_catalogue: Catalogue
) -> None:
    def plan(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return words(f"<{last_prompt(messages)}>")

    result = await ran(runner, installed_catalogue, name, text, plan)
    assert result.output is not None
    assert result.output == output if output else text in result.output


def test_every_template_that_needs_a_model_is_run_here() -> None:
    run_here = {"agent-with-tools", "agent-team", "agent-chain", "extraction", "batch", "prompt-chain", "memory-chat"}
    run_here |= {"rag", "document-questions"}  # in test_retrieval
    assert {one.name for one in templates() if "model" in one.needs} == run_here
