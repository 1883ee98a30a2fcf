"""Components that execute one of their fields, on the real engine: a clean text runs, any other is refused."""

import pytest

from flows.catalogue import Catalogue
from flows.spec import build
from runtime.results import RunResult
from runtime.runner import Runner

pytestmark = [pytest.mark.engine, pytest.mark.anyio]


async def ran(
    runner: Runner, catalogue: Catalogue, kind: str, port: str, code: str, more: str = "", **tweaks: str
) -> RunResult:
    block = "".join(f"    {line}\n" for line in code.splitlines())
    name = "function_code" if kind == "PythonFunction" else "python_code"
    nodes = f"nodes:\n  P: {kind}\n  O: ChatOutput\nedges:\n  P.{port} -> O.input_value\n"
    spec = f"{nodes}config:\n{more}  P.{name}: |\n{block}"
    built = build(spec, catalogue)
    assert built.flow is not None, built.faults
    return await runner.run(built.flow, tweaks={built.ids["P"]: tweaks} if tweaks else None, timeout=20)


@pytest.mark.parametrize(
    ("kind", "port", "code", "more", "told"),
    [
        ("PythonREPLComponent", "results", "print(math.sqrt(16) + 38)", "  P.global_imports: math\n", "42.0"),
        ("PythonREPLTool", "api_run_model", "total = sum(range(10))\nprint(total)", "", "45"),
        ("PythonFunction", "function_output_str", "def answer():\n    return 'It is ' + str(6 * 7)", "", "It is 42"),
    ],
)
async def test_a_field_that_passes_the_guard_is_executed(
    runner: Runner, installed_catalogue: Catalogue, kind: str, port: str, code: str, more: str, told: str
) -> None:
    result = await ran(runner, installed_catalogue, kind, port, code, more)
    assert result.error is None
    assert told in str(result.output)


@pytest.mark.parametrize(
    ("kind", "port", "code", "more"),
    [
        ("PythonREPLComponent", "results", "print(os.environ)", "  P.global_imports: os\n"),
        ("PythonREPLComponent", "results", "print(().__class__.__mro__[1].__subclasses__())", ""),
        ("PythonREPLTool", "api_run_model", "import subprocess\nsubprocess.run(['id'])", ""),
        ("PythonFunction", "function_output_str", "def answer():\n    return open('/etc/passwd').read()", ""),
        ("PythonFunction", "function_output_str", "import os\n\ndef answer(x=os.system('id')):\n    return 'x'", ""),
        ("PythonFunction", "function_output_str", "def answer():\n    return sys.modules['os'].environ", ""),
    ],
)
async def test_a_field_that_does_not_pass_is_refused_with_its_line(
    runner: Runner, installed_catalogue: Catalogue, kind: str, port: str, code: str, more: str
) -> None:
    result = await ran(runner, installed_catalogue, kind, port, code, more)
    assert result.error is not None
    assert result.error.code == "refused"
    assert "line " in result.error.message
    assert result.outputs == {}


async def test_a_tweak_of_an_executed_field_is_read_like_the_field(
    runner: Runner, installed_catalogue: Catalogue
) -> None:
    clean = await ran(runner, installed_catalogue, "PythonREPLComponent", "results", "print(1)", python_code="print(7)")
    assert "7" in str(clean.output)
    evil = await ran(runner, installed_catalogue, "PythonREPLComponent", "results", "print(1)", python_code="eval('1')")
    assert evil.error is not None
    assert evil.error.code == "refused"


async def test_a_wired_field_and_a_tool_stay_refused(runner: Runner, installed_catalogue: Catalogue) -> None:
    wired = "nodes:\n  A: ChatInput\n  P: PythonREPLComponent\nedges:\n  A.message -> P.python_code\n"
    built = build(wired, installed_catalogue)
    assert built.flow is not None
    result = await runner.run(built.flow, "print(1)")
    assert result.error is not None
    assert result.error.code == "refused"
