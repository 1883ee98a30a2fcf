"""Addresses of services that are served anew, in whatever was recorded with the old ones."""

from evals.probing import moved


def test_addresses_are_exchanged_all_at_once_and_as_wholes() -> None:
    before = {"a": "http://127.0.0.1:4000", "b": "http://127.0.0.1:5000", "gone": "http://127.0.0.1:6000"}
    after = {"a": "http://127.0.0.1:5000", "b": "http://127.0.0.1:4000"}
    text = "http://127.0.0.1:4000/x http://127.0.0.1:5000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    shown = "http://127.0.0.1:5000/x http://127.0.0.1:4000 http://127.0.0.1:40001 http://127.0.0.1:6000"
    assert moved(text, before, after) == shown
    assert moved(moved(text, before, after), after, before) == text
    assert moved(text, {}, after) == text
