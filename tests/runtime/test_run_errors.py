"""Flows that fail in many ways on the real engine: each is told by its cause, its code, its node and a remedy."""

import socket
from collections.abc import Callable

import pytest

from flows.document import Flow, Json, JsonObject
from runtime.options import Network
from runtime.results import RunError, RunResult
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded

MakeFlow = Callable[..., Flow]
MakeCode = Callable[[str], JsonObject]
pytestmark = [pytest.mark.anyio, pytest.mark.engine]


def told(result: RunResult) -> RunError:
    """The error of a run, which tells no wrapper, no place of this machine and no stack."""
    assert result.error is not None, result.outputs
    for never in ("Error building", "Error running", "Traceback", "/home/", "wirewright-", "site-packages", "/root"):
        assert never not in result.error.message
        assert never not in result.error.fix
    assert result.error.fix
    return result.error


async def coded(
    runner: Runner, make_code: MakeCode, body: str, *, timeout: float = 30, network: Network = "open"
) -> RunError:
    data = make_code(body)
    return told(await run_unguarded(runner, data, timeout=timeout, network=network))


@pytest.mark.parametrize(
    ("kind", "values", "code", "words"),
    [
        ("JSONtoData", {}, "missing_input", "Please provide exactly one of"),
        ("SaveToFile", {}, "missing_input", "must be provided"),
        ("APIRequest", {"url_input": "not a url"}, "code", "Invalid URL"),
        ("YahooFinanceTool", {"symbol": "x"}, "missing_package", "yfinance"),
        ("CSVAgent", {}, "refused", "executes code"),
    ],
)
async def test_a_failing_component_of_the_catalogue_is_reported_by_its_cause(
    runner: Runner, make_flow: MakeFlow, kind: str, values: dict[str, Json], code: str, words: str
) -> None:
    error = told(await runner.run(make_flow({"n": (kind, values)}), timeout=30))
    assert (error.code, error.node) == (code, "n")
    assert words in error.message


@pytest.mark.table
@pytest.mark.parametrize(
    ("body", "code", "words", "remedy"),
    [
        ("import langchain_anthropic", "missing_package", "langchain_anthropic", "--with lfx-anthropic."),
        ("import crewai.agents", "missing_package", "crewai", "--with crewai."),
        (
            "try: import boto3\nexcept ImportError as e: raise ImportError('Could not import boto3') from e",
            "missing_package",
            "boto3",
            "--with lfx-amazon.",
        ),
        (
            "import pandas\nraise ImportError(\"Missing optional dependency 'tabulate'.\")",
            "missing_package",
            "tabulate",
            "--with tabulate.",
        ),
        ("raise ValueError('Input Text is required')", "missing_input", "Input Text", "value"),
        ("'a' + 1", "code", "concatenate", "type"),
        ("from pydantic import TypeAdapter\nTypeAdapter(int).validate_python('x')", "code", "valid integer", "type"),
        ("open('/home/ada/orders.csv')", "refused", "orders.csv", "its own files"),
        ("open('orders.csv')", "missing_input", "orders.csv", "value"),
        ("open(str(Path.home() / 'deep' / 'orders.csv'))", "missing_input", "orders.csv", "value"),
        ("import json\njson.loads('{broken')", "code", "line 1 column 2", "JSON"),
        ("import re\nre.compile('[')", "code", "unterminated", "regular expression"),
        ("1 / 0", "code", "ZeroDivisionError", "zero"),
        (
            (  # most of the limit is reserved, the rest written
                "import mmap\nheld = [mmap.mmap(-1, 2**31, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)]\n"
                "while True: held.append(bytearray(2 ** 26))"
            ),
            "limit",
            "Memory",
            "data",
        ),
        ("for n in range(600): os.dup(0)", "limit", "Too many open files", "files"),
        ("open('big', 'wb').write(bytes(2 ** 27))", "limit", "File too large", "write"),
        ("time.sleep(60)", "timeout", "1 s", "time"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crash", "signal", "Run it again"),
        (
            "try: import nothing_of_that_name\nexcept ImportError: raise ValueError('the table has no rows')",
            "code",
            "the table has no rows",
            "values",
        ),
        ("raise ValueError('row 401 has no title')", "code", "row 401", "values"),
        (
            "raise RuntimeError(\"Error code: 400 - {'error': {'message': 'The input is too odd', 'type': 'bad'}}\")",
            "code",
            "The input is too odd",
            "values",
        ),
        ("raise ExceptionGroup('several', [ValueError('first of them'), KeyError('x')])", "code", "first of", "values"),
    ],
)
async def test_a_failure_in_code_has_its_code_its_cause_and_a_remedy(
    runner: Runner, make_code: MakeCode, body: str, code: str, words: str, remedy: str
) -> None:
    error = await coded(runner, make_code, body, timeout=1 if code == "timeout" else 30)
    assert error.code == code
    assert words in error.message
    assert remedy in error.fix
    assert error.node in {"CustomComponent-x", None}


async def test_an_address_of_this_machine_is_refused_and_in_a_verification_an_outside_cause(
    runner: Runner, make_code: MakeCode
) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else answers on this port
        taken.bind(("127.0.0.1", 0))
        body = f"import httpx\nhttpx.get('http://127.0.0.1:{taken.getsockname()[1]}', timeout=5)"
        refused = await coded(runner, make_code, body)
        unreachable = await coded(runner, make_code, body, network="gateway-only")
    assert (refused.code, unreachable.code) == ("refused", "external")


async def test_text_that_is_not_json_is_reported_in_the_parsers_words(runner: Runner, make_flow: MakeFlow) -> None:
    nodes = {"a": "ChatInput", "n": ("ParseJSONData", {"query": ".x"})}
    error = told(await runner.run(make_flow(nodes, [("a", "message", "n", "input_value")]), "not json"))
    assert (error.code, error.node) == ("code", "n")
    assert "Expecting value: line 1 column 1" in error.message


async def test_the_bundle_is_named_when_a_component_type_is_not_installed(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow({"n": "ChatInput"}).to_json()
    text = str(flow["data"]).replace("'type': 'ChatInput'", "'type': 'ext:anthropic:AnthropicModelComponent@official'")
    data: Json = eval(text)  # noqa: S307 - our own text
    error = told(await runner.run(Flow.from_json(data)))
    assert (error.code, error.node) == ("missing_package", "n")
    assert "wirewright runner install --with lfx-anthropic" in error.fix
