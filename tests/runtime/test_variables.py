"""Which of the user's variables enter a run, and that their values never come out of one."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.document import Flow, Json, JsonObject
from flows.json_values import as_list, as_object, object_at
from runtime.install.environment import RunnerEnvironment
from runtime.options import RunOptions
from runtime.redaction import Redactor
from runtime.results import RunError, RunMetrics, RunResult
from runtime.run_events import NodeFinished, NodeToken, RunEvent
from runtime.runner import Runner
from runtime.variables import conventional_name, fill_variables

MakeFlow = Callable[..., Flow]
VALUE = "s3arch-key/with+odd=chars"
NAMED = {"api_key": "MY_SEARCH_KEY"}
SET = {"MY_SEARCH_KEY": VALUE, "SEARCHAPI_API_KEY": "by-convention", "OPENAI_API_KEY": "sk-model-key", "SHORT": "abc"}


def nodes_of(flow: Flow, *, named: bool = True) -> JsonObject:
    """Nodes and edges of a flow whose secret fields take their values from variables."""
    data = as_object(flow.to_json()["data"])
    for node in map(as_object, as_list(data["nodes"])):
        for field in object_at(node, "data", "node", "template").values():
            if isinstance(field, dict) and field.get("password"):
                field["load_from_db"] = named
    return data


def value_in(data: JsonObject, name: str = "api_key") -> Json:
    [node] = map(as_object, as_list(data["nodes"]))
    return object_at(node, "data", "node", "template", name).get("value")


def fill(data: JsonObject, catalogue: Catalogue, *allowed: str, verification: bool = False) -> tuple[Json, set[str]]:
    """The value that the key of the only node gets, and the reasons for what was withheld."""
    made = fill_variables(data, catalogue, allowed, SET.get, verification=verification)
    return value_in(made.data), {each.reason for each in made.withheld}


@pytest.mark.engine
def test_a_value_enters_where_a_secret_field_names_it_and_the_user_allowed_it(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    data = nodes_of(make_flow({"s": ("SearchAPI", NAMED)}))
    before = json.dumps(data)
    assert fill(data, installed_catalogue, "MY_SEARCH_KEY") == (VALUE, set())
    assert json.dumps(data) == before


@pytest.mark.engine
def test_the_conventional_variable_enters_when_the_field_names_none(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    data = nodes_of(make_flow({"s": "SearchAPI"}))
    assert fill(data, installed_catalogue, "SEARCHAPI_API_KEY") == ("by-convention", set())
    assert fill(data, installed_catalogue) == ("", set())


@pytest.mark.engine
def test_a_variable_that_the_user_keeps_enters_without_further_permission_but_no_verification_run(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    data = nodes_of(make_flow({"s": ("SearchAPI", NAMED)}))
    for verification, expected in ((False, "kept-value"), (True, "MY_SEARCH_KEY")):
        made = fill_variables(
            data, installed_catalogue, (), SET.get, verification=verification, own={"MY_SEARCH_KEY": "kept-value"}
        )
        assert value_in(made.data) == expected
    assert fill(data, installed_catalogue)[0] == "MY_SEARCH_KEY"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "allowed", "verification", "words"),
    [
        ("MY_SEARCH_KEY", (), False, "not allowed"),
        ("MY_SEARCH_KEY", ("OTHER",), False, "not allowed"),
        ("MY_SEARCH_KEY", ("MY_SEARCH_KEY",), True, "verification"),
        ("UNSET", ("UNSET",), False, "not set"),
        ("SHORT", ("SHORT",), False, "too short"),
    ],
)
def test_a_value_stays_out_and_the_reason_is_kept(
    make_flow: MakeFlow,
    installed_catalogue: Catalogue,
    name: str,
    allowed: tuple[str, ...],
    verification: bool,
    words: str,
) -> None:
    data = nodes_of(make_flow({"s": ("SearchAPI", {"api_key": name})}))
    value, reasons = fill(data, installed_catalogue, *allowed, verification=verification)
    assert value == name
    [reason] = reasons
    assert words in reason


@pytest.mark.engine
@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "WIREWRIGHT_DATABASE", "LANGFLOW_SECRET_KEY"])
def test_keys_of_models_and_our_own_settings_never_enter_even_when_allowed(
    make_flow: MakeFlow, installed_catalogue: Catalogue, name: str
) -> None:
    data = nodes_of(make_flow({"s": ("SearchAPI", {"api_key": name})}))
    made = fill_variables(data, installed_catalogue, {name}, lambda _: "sk-model-key", verification=False)
    assert "sk-model-key" not in json.dumps(made.data)


@pytest.mark.engine
def test_nothing_enters_a_run_with_code_that_is_not_the_catalogues(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    flow = make_flow({"s": ("SearchAPI", NAMED), "x": ("TextInput", {"code": "import os"})})
    made = fill_variables(nodes_of(flow), installed_catalogue, SET, SET.get, verification=False)
    assert VALUE not in json.dumps(made.data)
    assert "not the catalogue's" in made.withheld[0].reason


@pytest.mark.engine
def test_nothing_enters_a_field_that_only_the_flow_calls_secret(
    make_flow: MakeFlow, installed_catalogue: Catalogue
) -> None:
    data = nodes_of(make_flow({"t": ("TextInput", {"input_value": "MY_SEARCH_KEY"})}))
    [node] = map(as_object, as_list(data["nodes"]))
    object_at(node, "data", "node", "template", "input_value").update(password=True, load_from_db=True)
    made = fill_variables(data, installed_catalogue, SET, SET.get, verification=False)
    assert VALUE not in json.dumps(made.data)


@pytest.mark.parametrize(
    ("kind", "field", "variable"),
    [
        ("SearchAPI", "api_key", "SEARCHAPI_API_KEY"),
        ("GoogleSerperAPI", "serper_api_key", "SERPER_API_KEY"),
        ("SaveToFile", "aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        ("ext:tavily:TavilySearchComponent@official", "api_key", "TAVILYSEARCH_API_KEY"),
    ],
)
def test_the_variable_of_a_field_follows_from_its_name_or_its_types(kind: str, field: str, variable: str) -> None:
    assert conventional_name(kind, field) == variable


# A component type of a catalogue of the test's own, whose secret field comes out in every way that there is.
LEAK = """
import base64, os, urllib.parse
from lfx.custom.custom_component.component import Component
from lfx.io import Output, SecretStrInput
from lfx.schema.data import Data


class Leak(Component):
    display_name = "Leak"
    name = "Leak"
    inputs = [SecretStrInput(name="api_key", display_name="Key")]
    outputs = [Output(display_name="Output", name="output", method="build_output")]

    def build_output(self) -> Data:
        key = self.api_key
        for piece in (key[:5], key[5:9], key[9:], " and ", key):
            if self._event_manager: self._event_manager.on_token(data={"chunk": piece, "id": "m"})
        if os.environ.get("FAIL") or len(key or "") == 9:
            raise ValueError(f"the server refused {key} and {urllib.parse.quote(key)}")
        encoded = base64.b64encode(key.encode()).decode()
        return Data(data={"key": key, key: [key], "url": urllib.parse.quote(key, safe=""), "basic": encoded,
                          "env": sorted(os.environ.values()), "found": len(key)})
"""


@asynccontextmanager
async def leaking(
    environment: RunnerEnvironment, catalogue: Catalogue, value: str, *allowed: str
) -> AsyncIterator[tuple[Runner, Flow]]:
    """A runner whose catalogue has the leaking type, and a flow of it that names a variable."""
    field: JsonObject = {
        "name": "api_key", "type": "str", "password": True, "load_from_db": True, "_input_type": "SecretStrInput",
        "value": "MY_SEARCH_KEY", "show": True,
    }  # fmt: skip
    code: JsonObject = {"name": "code", "type": "code", "value": LEAK, "show": True}
    port: JsonObject = {"name": "output", "method": "build_output", "types": ["Data"], "selected": "Data"}
    definition: JsonObject = {
        "template": {"_type": "Component", "code": code, "api_key": field}, "outputs": [port], "base_classes": ["Data"],
        "display_name": "Leak", "field_order": ["api_key"],
    }  # fmt: skip
    known: JsonObject = {
        "format": 1, "lfx": catalogue.version, "runner": "", "components": {"Leak": {**definition, "category": "x"}},
    }  # fmt: skip
    flow = Flow.from_json(
        {
            "nodes": [{"id": "n", "type": "genericNode", "data": {"id": "n", "type": "Leak", "node": definition}}],
            "edges": [],
        }
    )
    lookup = {"MY_SEARCH_KEY": value}.get
    made = Runner(environment, catalogue=Catalogue.from_json(known), allow_variables=allowed, variables=lookup)
    async with made as runner:
        assert await runner.ready(180)
        yield runner, flow


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_value_is_used_inside_and_never_comes_out(
    warm_environment: RunnerEnvironment, installed_catalogue: Catalogue
) -> None:
    async with leaking(warm_environment, installed_catalogue, VALUE, "MY_SEARCH_KEY") as (runner, flow):
        events: list[RunEvent] = []
        result = await runner.run(flow, on_event=events.append, want_nodes=True)
        assert result.error is None
        told = text_of(events)
        assert told == "*** and ***"
        written = json.dumps(result.to_json()) + told
        assert as_object(result.outputs["n"])["found"] == len(VALUE)
        assert VALUE not in written
        assert VALUE[5:] not in written
        for form in ("s3arch-key%2F", "czNhcmNo"):
            assert form not in written
        # The same run without permission, and as a verification, has no value to leak, and says why it failed.
        for options in ({"allow_variables": ()}, {"network": "gateway-only"}):
            without = await runner.run(flow, **options)
            assert without.error is not None
            assert (without.error.code, without.error.node) == ("missing_key", "n")
            assert "MY_SEARCH_KEY" in without.error.message


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_value_does_not_come_out_with_an_error(
    warm_environment: RunnerEnvironment, installed_catalogue: Catalogue
) -> None:
    async with leaking(warm_environment, installed_catalogue, "nine/char", "MY_SEARCH_KEY") as (runner, flow):
        result = await runner.run(flow)
        assert result.error is not None
        assert result.error.message == "the server refused *** and ***"


def text_of(events: list[RunEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, NodeToken))


def result_with(value: Json) -> RunResult:
    error = RunError(code="code", message=f"no: {value}", node="n")
    return RunResult(
        run_id="r",
        output=str(value),
        outputs={"n": value},
        nodes={"n": value},
        metrics=RunMetrics(seconds=0),
        error=error,
    )


def test_a_result_without_secrets_passes_as_it_is() -> None:
    result = result_with({"a": [1, "text", None]})
    assert Redactor(()).result(result) is result


def test_numbers_and_names_are_scrubbed_like_texts() -> None:
    cleaned = Redactor({"12345678"}).result(result_with({"12345678": [12345678, 1234567, True]}))
    assert cleaned.outputs == {"n": {"***": ["***", 1234567, True]}}


@given(st.text(min_size=4, max_size=12), st.text(max_size=10), st.lists(st.integers(1, 5), max_size=20))
def test_a_secret_never_comes_out_in_pieces_however_text_is_cut(secret: str, around: str, cuts: list[int]) -> None:
    scrubber, text, told = Redactor({secret}), around + secret + around + secret[:-1], ""
    for size in [*cuts, len(text)]:
        piece, text = text[:size], text[size:]
        told += text_of(scrubber.event(NodeToken(node="n", text=piece)))
        if not text:
            break
    told += text_of(scrubber.event(NodeFinished(node="n")))
    assert secret not in told or secret in "***"


def test_text_that_may_begin_a_secret_comes_out_at_the_nodes_end_when_ends_are_not_wanted() -> None:
    heard: list[RunEvent] = []
    guarded = Redactor({"topsecret"}).guard(RunOptions(on_event=heard.append, event_kinds=("token",)))
    assert set(guarded.event_kinds) == {"token", "node_finished"}
    assert guarded.on_event is not None
    for event in (NodeToken(node="n", text="on top"), NodeFinished(node="n")):
        guarded.on_event(event)
    assert {event.event for event in heard} == {"token"}
    assert text_of(heard) == "on top"


@given(st.text(max_size=30), st.lists(st.integers(1, 4), max_size=30))
def test_text_without_a_secret_comes_out_whole_however_it_is_cut(text: str, cuts: list[int]) -> None:
    scrubber, left, told = Redactor({"\x00never in a text\x00"}), text, ""
    for size in [*cuts, len(text) + 1]:
        piece, left = left[:size], left[size:]
        told += text_of(scrubber.event(NodeToken(node="n", text=piece)))
    told += text_of(scrubber.event(NodeFinished(node="n")))
    assert told == text
