"""Flows of the catalogue's own components that fail as users' flows do: each says its cause, its code and a remedy."""

import json

import pytest

from flows.catalogue import Catalogue
from flows.spec import build
from runtime.runner import Runner

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


def alone(kind: str, **values: object) -> str:
    """A flow of one component, `n`, that gets nothing."""
    return f"name: Test\nnodes:\n  n: {kind}\n  o: ChatOutput\nedges:\n{_out(kind)}{_config('n', values)}"


def after_chat(kind: str, field: str, **values: object) -> str:
    """A flow that gives the chat's text to a field of `n`."""
    return (
        f"name: Test\nnodes:\n  a: ChatInput\n  n: {kind}\n  o: ChatOutput\nedges:\n  a.message -> n.{field}\n"
        f"{_out(kind)}{_config('n', values)}"
    )


def after_json(kind: str, field: str, **values: object) -> str:
    """A flow that gives the chat's text, read as JSON, to a field of `n`."""
    return (
        f"name: Test\nnodes:\n  a: ChatInput\n  t: TypeConverterComponent\n  n: {kind}\n  o: ChatOutput\nedges:\n"
        f"  a.message -> t.input_data\n  t.data_output -> n.{field}\n{_out(kind)}"
        f"{_config('n', values)}  t.output_type: JSON\n  t.auto_parse: true\n"
    )


def after_split(kind: str, field: str, **values: object) -> str:
    """A flow that gives the chat's text as a table of one column, `text`, to a field of `n`."""
    return (
        f"name: Test\nnodes:\n  a: ChatInput\n  t: SplitText\n  n: {kind}\n  o: ChatOutput\nedges:\n"
        f"  a.message -> t.data_inputs\n  t.dataframe -> n.{field}\n{_out(kind)}{_config('n', values)}"
    )


_PORTS = {
    "TextOperations": "message",
    "File": "message",
    "CSVtoData": "data_list",
    "JSONtoData": "data",
    "ParseJSONData": "filtered_data",
    "JSONCleaner": "output",
    "APIRequest": "data",
    "URLComponent": "raw_results",
    "SQLComponent": "run_sql_query",
    "Directory": "dataframe",
    "SelectData": "selected_data",
    "DataFrameOperations": "output",
    "SplitText": "dataframe",
    "EmbeddingSimilarityComponent": "similarity_data",
    "Knowledge": "retrieve_data",
    "KnowledgeBase": "retrieve_data",
    "SaveToFile": "message",
    "MCPTools": "response",
}


def _out(kind: str) -> str:
    return f"  n.{_PORTS.get(kind, 'api_run_model')} -> o.input_value\n"


def _config(node: str, values: dict[str, object]) -> str:
    return "config:\n" + "".join(f"  {node}.{name}: {json.dumps(value)}\n" for name, value in values.items())


CASES: dict[str, tuple[str, str, str, str, str]] = {
    # what goes wrong: the flow, the input, and the code, words of the message and words of the remedy that are due
    "a bad regular expression": (
        after_chat("TextOperations", "text_input", operation="Text Extract", extract_pattern="(["),
        "x",
        "code",
        "unterminated character set",
        "regular expression",
    ),
    "a file that is not the flow's": (
        alone("File", path=["/nowhere/deep/orders.csv"]),
        "",
        "missing_input",
        "You have no file",
        "wirewright files add",
    ),
    "a table's path outside": (
        alone("CSVtoData", csv_path="/data/none/orders.csv"),
        "",
        "missing_input",
        "You have no file",
        "wirewright files add",
    ),
    "no file at all": (alone("File"), "", "missing_input", "no file to read", "wirewright files add"),
    "no table at all": (alone("CSVtoData"), "", "missing_input", "exactly one of", "Give the node"),
    "no name to save under": (alone("SaveToFile"), "", "missing_input", "must be provided", "Give the node"),
    "a folder outside": (
        alone("Directory", path="/nowhere/deep"),
        "",
        "missing_input",
        "You have no",
        "wirewright files add",
    ),
    "broken JSON in a field": (alone("JSONtoData", json_string="{broken"), "", "code", "Invalid JSON", "JSON"),
    "broken JSON in the chat": (
        after_chat("ParseJSONData", "input_value", query=".x"),
        "not json",
        "code",
        "Expecting value: line 1 column 1",
        "JSON",
    ),
    "JSON that cannot be cleaned": (
        after_chat("JSONCleaner", "json_str", validate_json=True),
        "not json",
        "code",
        "Invalid JSON string",
        "JSON",
    ),
    "an encyclopedia's package": (
        after_chat("WikipediaAPI", "input_value"),
        "bees",
        "missing_package",
        "wikipedia",
        "wirewright runner install --with wikipedia",
    ),
    "a stock market's package": (
        after_chat("YahooFinanceTool", "symbol"),
        "AAPL",
        "missing_package",
        "yfinance",
        "wirewright runner install --with yfinance",
    ),
    "a search bundle": (
        after_chat("GoogleSearchAPI", "input_value"),
        "bees",
        "missing_package",
        "langchain_google_community",
        "wirewright runner install --with lfx-google",
    ),
    "a search key": (
        after_chat("SearchAPI", "input_value"),
        "bees",
        "missing_key",
        "searchapi_api_key",
        "Give the node its key",
    ),
    "another search key": (
        after_chat("SerpAPI", "input_value"),
        "bees",
        "missing_key",
        "serpapi_api_key",
        "Give the node its key",
    ),
    "an address that is none": (alone("APIRequest", url_input="not a url"), "", "code", "Invalid URL", "values"),
    "an address of this machine": (
        alone("APIRequest", url_input="http://127.0.0.1:9/x"),
        "",
        "refused",
        "127.0.0.1",
        "WIREWRIGHT_RUN_HOSTS=127.0.0.1",
    ),
    "a host that is not there": (
        alone("APIRequest", url_input="http://no-such-host.invalid/x", timeout=3),
        "",
        "external",
        "no-such-host.invalid",
        "try again",
    ),
    "a page that is not there": (
        alone("URLComponent", urls=["http://no-such-host.invalid"], timeout=3, continue_on_failure=False),
        "",
        "external",
        "no-such-host.invalid",
        "try again",
    ),
    "a database's address": (
        alone("SQLComponent", database_url="notaurl", query="SELECT 1"),
        "",
        "code",
        "Invalid database URL",
        "values",
    ),
    "a database in a file": (
        alone("SQLComponent", database_url="sqlite:///nowhere.db", query="SELECT 1"),
        "",
        "refused",
        "local filesystem",
        "files of the flow only",
    ),
    "a database that is not there": (
        alone("SQLComponent", database_url="postgresql://ada:hunter2hunter2@db.invalid/x", query="SELECT 1"),
        "",
        "missing_package",
        "psycopg2",
        "runner install --with psycopg2",
    ),
    "an index out of range": (
        after_json("SelectData", "data_list", data_index=7),
        '{"a": 1}',
        "code",
        "index 7 is out of range",
        "values",
    ),
    "a column that is not there": (
        after_split("DataFrameOperations", "df", operation="Sort", column_name="price"),
        "one two",
        "code",
        "price",
        "names of keys and columns",
    ),
    "a wrong kind of data": (
        after_json("EmbeddingSimilarityComponent", "embedding_vectors"),
        '{"a": 1}',
        "missing_input",
        "two embedding vectors",
        "Give the node",
    ),
    "pieces smaller than their overlap": (
        after_chat("SplitText", "data_inputs", chunk_size=10, chunk_overlap=50),
        "one two three",
        "code",
        "larger chunk overlap (50) than chunk size (10)",
        "Check",
    ),
    "a service of Langflow": (
        after_chat("Knowledge", "search_query", mode="Retrieve"),
        "bees",
        "external",
        "not found",
        "another one",
    ),
    "a program to start": (alone("MCPTools"), "", "refused", "starts a program", "Remove the node"),
}


@pytest.mark.table
@pytest.mark.parametrize("what", CASES)
async def test_a_failing_flow_is_reported_by_its_cause(
    what: str, runner: Runner, installed_catalogue: Catalogue
) -> None:
    text, given, code, words, remedy = CASES[what]
    built = build(text, installed_catalogue)
    assert built.flow is not None, built.faults
    result = await runner.run(built.flow, given or None, timeout=30)
    error = result.error
    assert error is not None, result.outputs
    assert (error.code, error.node) == (code, built.ids["n"])
    assert words in error.message
    assert remedy in error.fix
    assert result.output is None
    for never in (
        "Error building", "Error running", "Traceback", "/home/", "/root", "site-packages", "wirewright-", "LANGFLOW_",
        "input_value=", "hunter2",
    ):  # fmt: skip
        assert never not in error.message
        assert never not in error.fix


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 20
    assert {code for _, _, code, _, _ in CASES.values()} >= {
        "code", "external", "missing_input", "missing_key", "missing_package", "refused",
    }  # fmt: skip
