"""A pasted cURL command fills the request's other fields, whatever its form, or is refused with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, add_component, configure
from flows.fields.curl import curl_values
from flows.fields.values import FieldValueError

URL = "https://example.com/a?b=c"


@pytest.mark.parametrize(
    ("command", "method", "headers", "body"),
    [
        (f"curl {URL}", "GET", {}, {}),
        (f"curl -X DELETE '{URL}'", "DELETE", {}, {}),
        (f"curl -XPUT {URL}", "PUT", {}, {}),
        (f"curl --request PATCH --url {URL}", "PATCH", {}, {}),
        (f"curl -sSL {URL} -o out.txt --max-time 5", "GET", {}, {}),
        (f"curl {URL} -d name=Ada", "POST", {}, {"data": "name=Ada"}),
        (f"curl {URL} -d a=1 -d b=2", "POST", {}, {"data": "a=1&b=2"}),
        (f"""curl {URL} --data-raw '{{"a": 1, "b": [2]}}'""", "POST", {}, {"a": "1", "b": "[2]"}),
        (f"curl {URL} -d '[1]'", "POST", {}, {"data": "[1]"}),
        (f"""curl {URL} --json '{{"a": "x"}}'""", "POST", {"Content-Type": "application/json"}, {"a": "x"}),
        (
            f"curl \\\n  -H 'Accept: text/plain' \\\n  --header='X: y: z' {URL}",
            "GET",
            {"Accept": "text/plain", "X": "y: z"},
            {},
        ),
        (f"curl -u ada:pw {URL} -A me", "GET", {"Authorization": "Basic YWRhOnB3", "User-Agent": "me"}, {}),
    ],
)
def test_command_fills_the_fields(command: str, method: str, headers: dict[str, str], body: dict[str, str]):
    rows = {"headers": headers, "body": body}
    listed = {name: [{"key": key, "value": value} for key, value in held.items()] for name, held in rows.items()}
    assert curl_values(command) == {"url_input": URL, "method": method, **listed}


def test_data_goes_into_the_address_when_it_is_asked_for():
    assert curl_values("curl -G example.com/a -d q=x -d n=1")["url_input"] == "https://example.com/a?q=x&n=1"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("wget example.com", "not a cURL command"),
        ("curl", "has no URL"),
        ("curl 'example.com", "unclosed quote"),
        ("curl -d @secrets.txt example.com", "sends a file"),
        ("curl -F a=b example.com", "unsupported option: -F"),
        ("curl example.com -X", "ends after -X"),
    ],
)
def test_command_is_refused_when_it_cannot_be_followed(command: str, why: str):
    with pytest.raises(FieldValueError, match=why):
        curl_values(command)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str):
    for command in (text, f"curl {text}"):
        try:
            values = curl_values(command)
        except FieldValueError:
            continue
        assert str(values["url_input"]).lower().startswith("http")


def test_pasted_command_counts_in_its_mode_only_and_explicit_values_win(catalogue: Catalogue):
    added = add_component(
        Flow.empty(), catalogue, "APIRequest", values={"method": "PUT", "curl_input": f"curl {URL}", "mode": "cURL"}
    )
    node = added.flow.nodes[0]
    assert (node.value("url_input"), node.value("method")) == (URL, "PUT")
    with pytest.raises(EditError, match="cURL") as caught:
        configure(added.flow, catalogue, node.id, {"curl_input": "wget x"})
    assert caught.value.faults[0].field == "curl_input"
    with pytest.raises(EditError, match="HEAD"):
        configure(added.flow, catalogue, node.id, {"curl_input": f"curl -X HEAD {URL}"})
    plain = add_component(Flow.empty(), catalogue, "APIRequest", values={"curl_input": f"curl {URL}"}).flow.nodes[0]
    assert plain.value("url_input") != URL
