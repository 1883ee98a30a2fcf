"""Models that follow a plan in code: what their answers cost."""

from decimal import Decimal

import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted

pytestmark = pytest.mark.anyio


def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
    """The plan: one answer."""
    return ModelResponse(parts=[TextPart("It costs nothing.")])


@pytest.mark.parametrize("streamed", [False, True])
async def test_answers_cost_nothing_when_the_plan_is_all_there_is(*, streamed: bool) -> None:
    agent = Agent(scripted(answer, "planner", free=True))
    if streamed:
        async with agent.run_stream("How much?") as run:
            assert await run.get_output() == "It costs nothing."
        messages, usage = run.all_messages(), run.usage
    else:
        done = await agent.run("How much?")
        messages, usage = done.all_messages(), done.usage
    [cost] = [message.usage.cost for message in messages if isinstance(message, ModelResponse)]
    assert (cost, usage.cost) == (Decimal(0), Decimal(0))
    assert usage.output_tokens > 0, "tokens are counted all the same"


async def test_the_price_stays_unknown_when_a_plan_stands_for_a_model() -> None:
    assert (await Agent(scripted(answer, "model")).run("How much?")).usage.cost is None
