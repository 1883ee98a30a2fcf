"""What PydanticAI makes later is there when it is used."""

import subprocess
import sys

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
