"""Values become what the field holds, or are refused with what would do."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from flows.fields.model_values import CONNECTED, canonical_model
from flows.fields.secrets import redact, shown_value
from flows.fields.values import FieldValueError, coerce

CHOICES = {"type": "str", "options": ["equals", "not equals", "contains"], "value": "equals"}


@pytest.mark.parametrize(
    ("field", "value", "held"),
    [
        ({"type": "str"}, "007", "007"),
        ({"type": "str"}, "1_000", "1_000"),
        ({"type": "str"}, "nan", "nan"),
        ({"type": "str"}, "true", "true"),
        ({"type": "str"}, 100, "100"),
        ({"type": "str"}, 0.5, "0.5"),
        ({"type": "str"}, True, "true"),
        ({"type": "str", "value": "x"}, None, ""),
        ({"type": "prompt"}, "[a]", "[a]"),
        ({"type": "int"}, "42", 42),
        ({"type": "int"}, 5.0, 5),
        ({"type": "int"}, "", ""),
        ({"type": "float"}, "1", 1.0),
        ({"type": "slider", "range_spec": {"min": 0, "max": 1}}, "0.5", 0.5),
        ({"type": "int", "name": "max_tokens", "range_spec": {"min": 1, "max": 9}}, 0, 0),
        ({"type": "int", "value": 0, "range_spec": {"min": 1, "max": 9}}, 0, 0),
        ({"type": "bool"}, "True", True),
        ({"type": "bool"}, "no", False),
        ({"type": "bool"}, 1, True),
        ({"type": "str", "list": True}, '["a", "b"]', ["a", "b"]),
        ({"type": "str", "list": True}, "one, two", ["one, two"]),
        ({"type": "str", "list": True}, [1, "b"], ["1", "b"]),
        ({"type": "str", "list": True}, "", []),
        ({"type": "str", "list": True, "options": ["csv", "pdf"]}, "csv, pdf", ["csv", "pdf"]),
        ({"type": "dict"}, '{"a": 1}', {"a": 1}),
        ({"type": "dict"}, "a: 1\nb: two", {"a": 1, "b": "two"}),
        ({"type": "dict", "list": True}, [{"key": "k"}], [{"key": "k"}]),
        ({"type": "NestedDict"}, "", {}),
        ({"type": "table", "table_schema": [{"name": "a"}]}, '[{"a": 1}]', [{"a": 1}]),
        ({"type": "table", "table_schema": {"columns": [{"name": "a"}]}}, "- a: x\n- a: y", [{"a": "x"}, {"a": "y"}]),
        ({"type": "table"}, {"a": 1}, [{"a": 1}]),
        (CHOICES, "contains", "contains"),
        (CHOICES, "Contains", "contains"),
        ({**CHOICES, "combobox": True}, "like", "like"),
        ({**CHOICES, "options": []}, "anything", "anything"),
        ({"type": "tab", "options": ["JSON", "Table"]}, "Data", "JSON"),
        ({"type": "tab", "options": ["JSON"]}, "", ""),
        (
            {"type": "sortableList", "options": [{"name": "Word Count", "icon": "hash"}], "limit": 1},
            "word count",
            [{"name": "Word Count", "icon": "hash"}],
        ),
        ({"type": "duration", "options": ["Hours", "Days"]}, "3 days", {"value": 3, "unit": "Days"}),
        ({"type": "file", "fileTypes": ["pdf"], "list": True}, "a.pdf", ["a.pdf"]),
        ({"type": "other", "value": ""}, "", ""),
    ],
)
def test_value_becomes_what_the_field_holds(field: dict[str, Any], value: Any, held: Any):
    found = coerce(field, value)
    expected = held
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ({"type": "int"}, "1_000", "bad_number"),
        ({"type": "int"}, "1.5", "bad_number"),
        ({"type": "int"}, True, "bad_number"),
        ({"type": "float"}, "nan", "bad_number"),
        ({"type": "float"}, float("inf"), "bad_number"),
        ({"type": "slider", "range_spec": {"min": 0, "max": 1}}, "1.5", "out_of_range"),
        ({"type": "bool"}, "maybe", "bad_value"),
        ({"type": "str"}, ["a"], "bad_value"),
        ({"type": "str"}, {"a": 1}, "bad_value"),
        ({"type": "str", "list": True}, "- x: y", "bad_value"),
        (CHOICES, "contain", "bad_option"),
        ({"type": "str", "list": True, "options": ["csv"]}, ["csv", "exe"], "bad_option"),
        ({"type": "sortableList", "options": [{"name": "Filter"}]}, "Filtre", "bad_option"),
        ({"type": "sortableList", "options": [{"name": "A"}, {"name": "B"}], "limit": 1}, ["A", "B"], "bad_value"),
        ({"type": "dict"}, "no object", "bad_value"),
        ({"type": "table", "table_schema": [{"name": "name"}]}, [{"nmae": 1}], "bad_table"),
        ({"type": "table"}, "[1]", "bad_table"),
        ({"type": "duration", "options": ["Hours"]}, "soon", "bad_value"),
        ({"type": "file", "fileTypes": ["pdf"]}, "a.exe", "bad_value"),
        ({"type": "other"}, "text", "not_a_setting"),
        ({"type": "model"}, "unheard-of", "bad_model"),
        ({"type": "model"}, [{"provider": "OpenAI"}], "bad_model"),
    ],
)
def test_value_is_refused_when_the_field_cannot_hold_it(field: dict[str, Any], value: Any, code: str):
    with pytest.raises(FieldValueError) as caught:
        coerce(field, value)
    assert caught.value.code == code
    assert caught.value.fix


def test_nearest_options_are_named_when_one_is_misspelt():
    with pytest.raises(FieldValueError) as caught:
        coerce(CHOICES, "contain")
    assert "'contains'" in caught.value.fix


def test_options_follow_the_other_values_when_they_are_conditional():
    field = {
        "type": "str",
        "list": True,
        "options": ["a"],
        "conditional_options": [{"when": {"mode": "x"}, "options": ["only"]}, {"when": {}, "options": ["a", "b"]}],
    }
    assert coerce(field, ["only"], {"mode": "x"}) == ["only"]
    with pytest.raises(FieldValueError):
        coerce(field, ["only"], {"mode": "y"})


MODEL = [{"provider": "OpenAI", "name": "gpt-4o-mini"}]


@pytest.mark.parametrize(
    "written",
    [
        MODEL,
        MODEL[0],
        '[{"provider": "OpenAI", "name": "gpt-4o-mini"}]',
        '{"provider": "OpenAI", "name": "gpt-4o-mini"}',
        "- provider: OpenAI\n  name: gpt-4o-mini",
        "provider: OpenAI\nname: gpt-4o-mini",
        "name: gpt-4o-mini\nprovider: openai",
        [{"name": '[{"provider": "OpenAI", "name": "gpt-4o-mini"}]', "provider": "Unknown"}],
        {"name": "provider: OpenAI\nname: gpt-4o-mini"},
        {"model_name": "gpt-4o-mini", "provider": "OpenAI"},
        "gpt-4o-mini",
        "OpenAI/gpt-4o-mini",
        "openai:gpt-4o-mini",
        ["gpt-4o-mini"],
    ],
)
@pytest.mark.parity("base-term-serialised-model", "term-serialised-model", "base-scenario-bare-model-name")
def test_every_written_form_of_a_model_becomes_canonical(written: Any):
    assert canonical_model(written) == MODEL


@pytest.mark.parametrize("written", ["", [], CONNECTED])
def test_no_model_and_a_connected_model_stay_as_they_are(written: Any):
    assert canonical_model(written) == written


@given(st.text())
def test_text_stays_itself_in_a_text_field(text: str):
    assert coerce({"type": "str"}, text) == text


@given(st.text() | st.integers() | st.booleans() | st.lists(st.text()) | st.none(), st.data())
def test_value_is_stable_when_it_is_set_again(value: Any, data: st.DataObject):
    kind = data.draw(st.sampled_from(["str", "int", "float", "bool", "dict", "table", "model", "file", "sortableList"]))
    field = {"type": kind, "list": data.draw(st.booleans())}
    try:
        once = coerce(field, value)
    except FieldValueError:
        return
    assert coerce({**field, "value": once}, once) == once


def test_every_default_is_accepted_when_it_is_set_again(catalogue: Catalogue):
    for part in catalogue:
        for name, field in part.template.items():
            assert coerce(field, field.get("value")) == field.get("value"), (part.type, name)


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ({"name": "api_key", "type": "str", "password": True, "value": "hunter2"}, "***REDACTED***"),
        ({"name": "api_key", "type": "str", "password": True, "value": ""}, ""),
        ({"name": "api_key", "type": "str", "password": True, "load_from_db": True, "value": "MY_KEY"}, "MY_KEY"),
        (
            {
                "name": "api_key",
                "type": "str",
                "password": True,
                "load_from_db": True,
                "value": "sk-abcdefghijklmnop1234",
            },
            "***REDACTED***",
        ),
        ({"name": "auth_token", "type": "str", "value": "abc"}, "***REDACTED***"),
        ({"name": "max_tokens", "type": "int", "value": 5}, 5),
        ({"name": "text", "type": "str", "value": "use sk-abcdefghijklmnop1234 now"}, "use ***REDACTED*** now"),
        (
            {"name": "headers", "type": "table", "value": [{"key": "Authorization", "value": "x"}]},
            [{"key": "Authorization", "value": "***REDACTED***"}],
        ),
        ({"name": "url", "type": "str", "value": "postgres://me:pw@host/db"}, "postgres://***REDACTED***@host/db"),
    ],
)
def test_secrets_are_not_shown(field: dict[str, Any], shown: Any):
    assert shown_value(field) == shown


def test_plain_values_are_shown_as_they_are():
    value = {"a": ["b", 1, None, True], "note": "skip-ahead is fine"}
    assert redact(value) == value
