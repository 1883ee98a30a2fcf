"""Results of code that is not the catalogue's are marked, for it can write its own result."""

from collections.abc import Callable

import pytest

from flows.document import Flow
from runtime.results import RunResult
from runtime.runner import Runner

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

OWN = """from lfx.custom.custom_component.component import Component
from lfx.io import Output
from lfx.schema.message import Message


class Mine(Component):
    display_name = "Mine"
    outputs = [Output(display_name="Text", name="output", method="build_output")]

    def build_output(self) -> Message:
        return Message(text="I ran well")
"""


async def test_a_result_is_marked_when_code_that_is_not_the_catalogues_took_part(
    runner: Runner, make_flow: Callable[..., Flow]
) -> None:
    own = await runner.run(make_flow({"m": ("CustomComponent", {"code": OWN})}))
    assert own.ok, own.error
    assert own.untrusted_code
    assert RunResult.from_json(own.to_json()).untrusted_code
    python = await runner.run(make_flow({"p": ("PythonREPLComponent", {"python_code": "print(1)"})}))
    assert python.untrusted_code


async def test_a_result_is_not_marked_when_all_code_is_the_catalogues(runner: Runner, echo: Flow) -> None:
    result = await runner.run(echo, "hi")
    assert not result.untrusted_code
    assert "untrusted_code" not in result.to_json()
