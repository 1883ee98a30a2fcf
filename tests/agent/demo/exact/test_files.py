"""Requests about files become calls of the file tools; requests about flows never do."""

import pytest

from agent.demo.exact.files import file_steps
from agent.demo.exact.language import take_apart


@pytest.mark.parametrize(
    ("message", "tool", "arguments"),
    [
        ("Save 'buy milk' to notes.txt", "write_file", {"path": "notes.txt", "content": "buy milk"}),
        ("create a file called plan.md with the text 'Step'", "write_file", {"path": "plan.md", "content": "Step"}),
        ("read notes.txt", "read_file", {"path": "notes.txt"}),
        ("list my files", "glob_search", {"pattern": "**"}),
        ("find 'a.b' in my files", "grep_search", {"pattern": r"a\.b"}),
        ("in notes.txt replace 'milk' with 'bread'", "edit_file",
         {"path": "notes.txt", "old_string": "milk", "new_string": "bread"}),
        ("replace 'milk' by 'bread' in the file notes.txt", "edit_file",
         {"path": "notes.txt", "old_string": "milk", "new_string": "bread"}),
    ],
)  # fmt: skip
def test_a_request_about_a_file_is_one_call(message: str, tool: str, arguments: dict[str, str]) -> None:
    steps = file_steps(take_apart(message))
    assert steps is not None
    assert [(name, given()) for name, given in steps] == [(tool, arguments)]


@pytest.mark.parametrize(
    "message",
    [
        "Build a flow that reads a PDF file",
        "Change the prompt to 'Whisper: {text}'",
        "Replace Text Input with Combine Text",
        "Which component reads a file?",
        "add a Prompt Template",
    ],
)
def test_a_request_about_a_flow_is_left_alone(message: str) -> None:
    assert file_steps(take_apart(message)) is None
