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


def test_batches_of_function_models_are_read_although_their_schema_is_built_later() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
