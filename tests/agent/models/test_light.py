"""Models that follow a plan in code: what they leave out is there when it is used, and what their answers cost."""

import subprocess
import sys
from decimal import Decimal

import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import scripted

SCRIPT = """
import agent.models.scripted
import pydantic
from pydantic_ai import ModelResponse, TextPart
from pydantic_ai.models import _in_memory_batch
adapter = _in_memory_batch._RESPONSE_ADAPTER
assert isinstance(adapter, pydantic.TypeAdapter) and type(adapter) is not pydantic.TypeAdapter
assert not adapter.pydantic_complete
response = ModelResponse(parts=[TextPart("hello")])
assert adapter.validate_json(adapter.dump_json(response)) == response
assert pydantic.TypeAdapter(int).pydantic_complete
"""

FREE = """
import asyncio, sys
from pydantic_ai import Agent, ModelResponse, TextPart
from agent.models.scripted import scripted
plan = lambda messages, info: ModelResponse(parts=[TextPart("hello")])
free = scripted(plan, "free", free=True)
assert asyncio.run(Agent(free).run("hello")).output == "hello"
assert "genai_prices.data" not in sys.modules
scripted(plan, "priced")
assert "genai_prices.data" in sys.modules
"""


def test_batches_of_function_models_are_read_although_their_schema_is_built_later() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_list_of_prices_is_loaded_for_models_that_have_a_price_and_for_no_others() -> None:
    done = subprocess.run([sys.executable, "-c", FREE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
    """The plan: one answer."""
    return ModelResponse(parts=[TextPart("It costs nothing.")])


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_the_price_stays_unknown_when_a_plan_stands_for_a_model() -> None:
    assert (await Agent(scripted(answer, "model")).run("How much?")).usage.cost is None
