"""What a failure is said to be, and what it never says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.json_values import Json
from runtime.failures import MAX_MESSAGE, error_from_chain, scrub


def chain(*causes: tuple[str, str] | tuple[str, str, str]) -> list[Json]:
    return [{"type": kind, "message": text, "link": (link or ["cause"])[0]} for kind, text, *link in causes]


@pytest.mark.parity("base-scenario-deepest-cause", "base-smoke-deepest-cause")
def test_the_wrappers_are_left_out_when_a_component_fails() -> None:
    error = error_from_chain(
        chain(
            ("builtins.ValueError", "Error running graph: Error building Component Parser: \n\nno column 'x'"),
            ("lfx.exceptions.component.ComponentBuildError", "Error building Component Parser: \n\nno column 'x'"),
            ("builtins.ValueError", "no column 'x'"),
        ),
        "Parser-a",
    )
    assert (error.code, error.message, error.node) == ("code", "no column 'x'", "Parser-a")


@pytest.mark.parity("base-term-diagnostic-error", "term-diagnostic-error")
def test_the_providers_own_words_are_kept_when_an_error_quotes_them() -> None:
    text = "Error code: 404 - {'error': {'message': 'The model `m` does not exist', 'code': 'x'}}"
    assert error_from_chain(chain(("openai.NotFoundError", text)), None).message == "The model `m` does not exist"


def test_the_deeper_cause_is_reported_unless_it_is_a_detail_of_the_code() -> None:
    deeper = chain(("m.FlowError", "could not fetch"), ("httpx.ConnectError", "All connection attempts failed"))
    assert error_from_chain(deeper, None).message == "All connection attempts failed"
    assert error_from_chain(deeper, None).code == "external"
    detail = chain(("builtins.ValueError", "the row has no title"), ("builtins.KeyError", "'title'"))
    assert error_from_chain(detail, None).message == "the row has no title"
    handled = chain(("builtins.ValueError", "the row is odd"), ("builtins.OSError", "some other trouble", "context"))
    assert error_from_chain(handled, None).message == "the row is odd"


@pytest.mark.parametrize(
    ("kind", "text", "code"),
    [
        ("builtins.ModuleNotFoundError", "No module named 'crewai'", "missing_package"),
        ("builtins.ValueError", "OpenAI API key is required", "missing_key"),
        ("openai.AuthenticationError", "nope", "missing_key"),
        ("builtins.ValueError", "A model selection is required: please select a model", "missing_model"),
        ("builtins.ValueError", "Edge between A and B has no matched types", "wiring"),
        ("builtins.ValueError", "Input Text is required", "missing_input"),
        ("httpx.ReadTimeout", "timed out", "external"),
        ("socket.gaierror", "[Errno -2] Name or service not known", "external"),
        ("builtins.MemoryError", "", "limit"),
        ("lfx_runner.ResultTooLarge", "The results take 40 MB", "limit"),
        ("builtins.ValueError", "something of its own", "code"),
        ("builtins.AssertionError", "", "code"),
    ],
)
def test_a_cause_has_its_code_and_a_remedy(kind: str, text: str, code: str) -> None:
    error = error_from_chain(chain((kind, text)), None)
    assert error.code == code
    assert error.message
    assert error.fix


@pytest.mark.parametrize(
    ("kind", "text", "host", "why"),
    [
        (
            "lfx.SSRFProtectionError",
            "SSRF Protection: DNS resolution failed for no-such-host.invalid: [Errno -2] Name or service not known",
            "The host no-such-host.invalid",
            "there is no host of that name",
        ),
        (
            "requests.ConnectionError",
            "HTTPSConnectionPool(host='api.example.invalid', port=443): Max retries (Caused by NameResolutionError)",
            "The host api.example.invalid",
            "there is no host of that name",
        ),
        (
            "httpx.ConnectError",
            "[Errno -3] Temporary failure in name resolution",
            "A host that the flow calls",
            "its name cannot be resolved, as without a network",
        ),
        (
            "aiohttp.ClientConnectorError",
            "Cannot connect to host api.example.invalid:443 ssl:default [nodename nor servname provided, or not known]",
            "The host api.example.invalid",
            "there is no host of that name",
        ),
    ],
)
def test_a_host_without_an_address_is_said_to_be_unreachable_and_why(kind: str, text: str, host: str, why: str) -> None:
    error = error_from_chain(chain((kind, text)), "Call-a")
    assert (error.code, error.node) == ("external", "Call-a")
    assert error.message == f"{host} could not be reached: {why}."
    assert "network" in error.fix


def test_an_address_that_is_blocked_is_not_said_to_be_unknown() -> None:
    text = "SSRF Protection: Access to blocked IP address 127.0.0.1 (resolved from localhost) is not allowed."
    assert error_from_chain(chain(("lfx.SSRFProtectionError", text)), None).code == "refused"


@pytest.mark.parametrize(
    "reason",
    [
        "Input is a zero-length, empty document: line 1 column 1 (char 0)",
        "input data is empty: line 1 column 1 (char 0)",
        "Cannot read an empty file",
        "No columns to parse from file",
    ],
)
def test_an_empty_file_is_said_to_be_empty_whatever_its_parser_says(reason: str) -> None:
    error = error_from_chain(chain(("builtins.ValueError", f"Error loading file a b.json: {reason}")), "File-a")
    assert (error.code, error.message) == ("missing_input", "The file a b.json is empty.")
    assert error.fix == "Give the node a file with content."


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("cannot open /home/me/.cache/x/data.csv now", "cannot open data.csv now"),
        (r"cannot open C:\Users\me\data.csv now", "cannot open data.csv now"),
        ("see https://example.com/a/b?x=1 and text/html", "see https://example.com/a/b?x=1 and text/html"),
        ("key sk-abcdefgh12345678 refused", "key *** refused"),
        ("Authorization: Bearer abc.def.ghi123", "Authorization: Bearer ***"),
        ("postgresql://me:hunter2@db/x failed", "postgresql://***@db/x failed"),
        ("https://h/p?api_key=0123456789&q=1", "https://h/p?api_key=***&q=1"),
        ("{'password': 'correct horse'}", "{'password': '*** horse'}"),
        ("<Tool object at 0x7f00aa11>", "<Tool object>"),
        ("bad\nTraceback (most recent call last)\n File x", "bad"),
        ("1/2 of a/b and and/or", "1/2 of a/b and and/or"),
    ],
)
def test_a_message_loses_paths_and_secrets_and_nothing_else(text: str, clean: str) -> None:
    assert scrub(text) == clean


@given(st.text())
def test_any_text_is_scrubbed_to_a_bounded_one_that_stays_the_same(text: str) -> None:
    once = scrub(text)
    assert len(once) <= MAX_MESSAGE
    assert len(scrub(once)) <= len(once)


@given(st.lists(st.dictionaries(st.sampled_from(["type", "message", "link"]), st.text() | st.none()), max_size=5))
def test_any_chain_gives_an_error_with_words(entries: list[dict[str, str | None]]) -> None:
    error = error_from_chain([{**entry} for entry in entries], None)
    assert error.message
    assert error.fix


def test_scrubbing_is_quick_when_a_text_is_made_to_be_slow() -> None:
    for text in ("/a" * 50_000, "a/" * 50_000, "sk-" * 50_000, "\\" * 50_000, "token=" * 20_000):
        assert len(scrub(text)) <= MAX_MESSAGE


@pytest.mark.parametrize("address", ["http://localhost:8000/api", "http://ollama/", "http://my-service:80"])
def test_the_remedy_names_the_address_when_a_component_wants_a_dot_in_the_host(address: str) -> None:
    error = error_from_chain(chain(("ValueError", f"Invalid URL provided: {address}")), "APIRequest-1")
    assert "127.0.0.1" in error.fix
    assert "WIREWRIGHT_RUN_HOSTS" in error.fix


def test_the_remedy_names_no_host_when_the_address_is_wrong_otherwise() -> None:
    error = error_from_chain(chain(("ValueError", "Invalid URL provided: htp:/x.example.com")), "APIRequest-1")
    assert "WIREWRIGHT_RUN_HOSTS" not in error.fix
