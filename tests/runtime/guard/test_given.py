"""Names that the engine lends to a source, and words that it replaces in it, are read as they will be executed."""

import pytest

from runtime.guard import scan

HEAD = """from lfx.custom import Component
from lfx.schema.message import Message


class Sample(Component):
    def build(self) -> Message:
"""


def rules(line: str, head: str = "") -> list[str]:
    return [found.rule for found in scan(f"{head}{HEAD}        {line}\n")]


@pytest.mark.parametrize(
    "line",
    [
        "return sys.modules['os'].system('id')",
        "return importlib.import_module('os').system('id')",
        "return eval_function('def f(): return 1')()",
        "return create_class(self.text, 'X')",
        "return execute_function(self.text, 'f')",
        "return prepare_global_scope(ast.parse(self.text))",
        "return FunctionType(self.code, {})",
        "return exec_globals['sys']",
        "return Component(_code=self.text).get_function()",
        "return Component(_code=self.text).template_config",
    ],
)
def test_names_that_are_there_without_an_import_are_known(line: str) -> None:
    assert rules(line) != []


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("import sys\n", "return sys.maxsize"),
        ("", "return copy.deepcopy(self.text)"),
        ("", "return ast.literal_eval(self.text)"),
        ("def execute_function(text):\n    return text\n\n\n", "return execute_function(self.text)"),
        ("sys = {'a': 1}\n", "return sys['a']"),
        ("from importlib import metadata\n", "return Message(text='x')"),
    ],
)
def test_harmless_uses_and_names_of_the_sources_own_pass(head: str, line: str) -> None:
    assert rules(line, head) == []


def test_what_langflow_names_is_judged_like_what_the_engine_puts_in_its_place() -> None:
    for module in ("custom.validate", "custom.utils", "interface.initialize", "base.mcp.util"):
        name = "MCPStdioClient" if "mcp" in module else "create_class"
        one, other = (rules("return None", f"from {top}.{module} import {name}\n") for top in ("lfx", "langflow"))
        assert one
        assert bool(one) == bool(other)


def test_an_old_import_is_read_as_the_engine_rewrites_it() -> None:
    text = "from langflow import CustomComponent"
    # The engine puts `.custom` into the text, so that the cut falls elsewhere than it seems to.
    hidden = f"'{text}' + '__globals__xx'"
    assert rules(f"return getattr(self.build, ({hidden})[43:54])") != []
