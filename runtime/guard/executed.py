"""Component types that execute what a field, a file or a model tells them to, each with the reason it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PYTHON = "it executes Python written in one of its fields"
_MODEL_CODE = "it executes code that a language model writes"
_PROGRAM = "it starts a program that its settings name"

EXECUTING: Mapping[str, str] = MappingProxyType(
    {
        "PythonREPLComponent": _PYTHON,  # Python Interpreter: exec of `python_code`
        "PythonREPLTool": _PYTHON,  # exec of `python_code`, and of whatever an agent sends it
        "PythonREPLToolComponent": _PYTHON,
        "PythonFunction": _PYTHON,  # compiles and calls `function_code`
        "PythonFunctionComponent": _PYTHON,
        "PythonCodeStructuredTool": _PYTHON,  # removed from lfx, still found in old flows
        "MCPTools": _PROGRAM,  # a server of the stdio kind is a command line
        "Smart Transform": _MODEL_CODE,  # eval of a lambda that the model writes
        "LambdaFilterComponent": _MODEL_CODE,
        "CSVAgent": _MODEL_CODE,  # pandas agent with `allow_dangerous_code`
        "SQLAgent": "it executes SQL that a language model writes",
        "CodeActAgentSmolagents": _MODEL_CODE,
        "Cuga": _MODEL_CODE,
        "OpenDsStarAgent": _MODEL_CODE,
        "CrewAIAgentComponent": _MODEL_CODE,  # `allow_code_execution`
        "SequentialTaskAgentComponent": _MODEL_CODE,  # the same
        "OpenAPIAgent": "it sends requests that a language model makes up",  # `allow_dangerous_requests`
        "RunFlow": "it runs another stored flow, which is not checked here",
        "SubFlow": "it runs another stored flow, which is not checked here",
        "FlowTool": "it runs another stored flow, which is not checked here",
        "FileSystemTool": "it gives an agent the files below a folder of its choice",
    }
)
"""Reasons by component type; whatever the engine itself lists as executing code is among them."""

OUT_OF_FIELD: frozenset[str] = frozenset(
    name for name, reason in EXECUTING.items() if reason == _PYTHON and name != "PythonCodeStructuredTool"
)
"""Types that execute one of their own fields: they run where that field's text is known, and passes the guard."""

HANDS_OUT: frozenset[str] = frozenset({"component_as_tool", "api_build_tool"})
"""Outputs through which such a component becomes an agent's tool, and executes what the agent sends."""
