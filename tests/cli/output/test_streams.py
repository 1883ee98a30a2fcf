"""JSON on standard output: one line a document, readable by every parser."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.output.streams import encoded, progress

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(values)
def test_a_value_comes_back_from_its_line(value: object) -> None:
    assert json.loads(encoded(value)) == value


@settings(deadline=None)
@given(values)
def test_a_document_is_one_line_for_every_reader(value: object) -> None:
    assert len(encoded(value).splitlines()) == 1


def test_numbers_that_json_does_not_allow_become_null() -> None:
    value = {"a": [math.nan, {"b": math.inf}], "c": (1.5, -math.inf), "d": "NaN"}
    assert json.loads(encoded(value)) == {"a": [None, {"b": None}], "c": [1.5, None], "d": "NaN"}


def test_a_message_that_repeats_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    tell = progress()
    for message in ("one", "one", "two", "one"):
        tell(message)
    assert capsys.readouterr() == ("", "one\ntwo\none\n")
