"""Deep copies of lists and dictionaries are the ones that Python makes."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfx_runner.patches import deep_copies


class Thing:
    """An object that a flow's values may hold."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN | st.sampled_from([int, str, Ellipsis, len]),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.text()), inner)
        | st.tuples(inner, inner)
        | st.sets(st.text())
    ),
)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatch = dict(vars(copy)["_deepcopy_dispatch"])
    monkeypatch.setattr(copy, "_deepcopy_dispatch", dispatch)
    deep_copies.install()
    assert dispatch[dict] is deep_copies.copy_dictionary


@given(VALUES)
def test_a_copy_is_equal_and_shares_no_list_or_dictionary(value: Any) -> None:
    copied = copy.deepcopy(value)
    assert copied == value
    assert not containers(copied) & containers(value)


def containers(value: Any) -> set[int]:
    """The identities of the lists and dictionaries in a value."""
    own = {id(value)} if isinstance(value, list | dict) else set[int]()
    inner: Any = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return own.union(*(containers(each) for each in inner))


def test_what_is_shared_stays_shared_and_what_holds_itself_still_does() -> None:
    shared = [1]
    value: dict[str, Any] = {"one": shared, "two": [shared], "thing": Thing(shared)}
    value["self"] = value
    copied = copy.deepcopy(value)
    assert copied["self"] is copied
    assert copied["one"] is copied["two"][0] is copied["thing"].inside
    assert copied["one"] is not shared


def test_a_class_that_is_derived_from_a_text_is_copied_by_its_own_rule() -> None:
    class Secret(str):
        __slots__ = ()

        def __deepcopy__(self, memo: dict[int, Any]) -> "Secret":
            return Secret("hidden")

    assert copy.deepcopy([Secret("open"), {"key": Secret("open")}]) == ["hidden", {"key": "hidden"}]
