"""Spans, and a process that leaves logfire out."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
from runtime.tracing import disable_logfire, span
disable_logfire()
import server.app
assert not [name for name in sys.modules if name.split(".")[0] == "logfire"], "it was imported"
with span("turn", conversation="x") as one:
    one.set_attribute("a", 1)
    one.set_attributes({"b": 2})
    one.record_exception(ValueError("c"))
import logfire
logfire.configure(send_to_logfire=False, console=False)
with span("turn", conversation="x") as one:
    assert isinstance(one, logfire.LogfireSpan)
"""
AFTER = """
import logfire
from runtime.tracing import disable_logfire
disable_logfire()
import sys
assert sys.modules["logfire"] is logfire
assert "pydantic_ai" not in sys.modules
"""


@pytest.mark.parametrize("code", [WITHOUT, AFTER], ids=["before it is imported", "once it is imported"])
def test_logfire_is_left_out_and_can_still_be_imported_when_nothing_is_traced(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
