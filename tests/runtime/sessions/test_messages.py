"""What a run reports about messages is read with nothing but its texts believed."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.sessions.messages import MAX_NAME, MAX_STORED, MAX_TEXT, Message, read_changes

KNOWN = (Message(id="known", sender="User", sender_name="User", text="hello", timestamp="t"),)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["known", "stored", "deleted", "text"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "text", "sender", "x"]), inner),
    max_leaves=20,
)


def stored(**entry: object) -> dict[str, Any]:
    return {"stored": [{"id": "x", "sender": "User", "sender_name": "User", "text": "hi", **entry}], "deleted": []}


@given(st.fixed_dictionaries({"stored": ANYTHING, "deleted": ANYTHING}) | ANYTHING)
def test_any_report_becomes_changes_of_the_given_messages_and_new_ones(reported: Any) -> None:
    changes = read_changes(reported, KNOWN)
    assert {each.id for each in changes.changed} | changes.deleted <= {"known"}
    for each in (*changes.added, *changes.changed):
        assert len(each.text) <= MAX_TEXT
        assert max(len(each.sender), len(each.sender_name), len(each.context)) <= MAX_NAME
        assert each.text.encode()
    assert not {each.id for each in changes.added} & {"known"}


def test_new_messages_get_ids_that_the_run_does_not_choose() -> None:
    first, second = (read_changes(stored(id="chosen"), KNOWN).added[0].id for _ in range(2))
    assert len({first, second, "chosen"}) == 3


def test_a_given_message_is_changed_or_deleted() -> None:
    assert read_changes(stored(id="known", text="changed"), KNOWN).changed[0].text == "changed"
    assert read_changes({"stored": [], "deleted": ["known", "other"]}, KNOWN).deleted == {"known"}


def test_a_message_that_is_too_long_is_cut_and_too_many_lose_the_first() -> None:
    [cut] = read_changes(stored(text="x" * (MAX_TEXT + 1), sender_name="n" * 1_000), KNOWN).added
    assert (len(cut.text), len(cut.sender_name)) == (MAX_TEXT, MAX_NAME)
    many = {"stored": [{"sender": "User", "text": str(number)} for number in range(MAX_STORED + 5)]}
    changes = read_changes(many, ())
    assert (len(changes.added), changes.added[0].text) == (MAX_STORED, "5")


def test_texts_that_a_database_cannot_hold_are_cleaned() -> None:
    [clean] = read_changes(stored(text="a\0b\ud800", timestamp="never\n"), KNOWN).added
    assert clean.text == "ab?"
    assert clean.timestamp.endswith(" UTC")


def test_a_message_without_a_sender_or_a_text_is_dropped() -> None:
    for wrong in ({"sender": ""}, {"sender": 3}, {"text": None}, {"text": math.pi}, {"text": ""}):
        assert not read_changes(stored(**wrong), KNOWN)
