"""What a program asks the fork server for arrives as `json` would have written it."""

import json
import os

from hypothesis import given
from hypothesis import strategies as st

from tests.processes import fork_client, huge_pages

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
"""Any characters: names of files that are no UTF-8 have lone surrogates."""


@given(st.none() | st.integers() | TEXT | st.lists(TEXT) | st.lists(st.integers()) | st.dictionaries(TEXT, TEXT))
def test_a_value_is_read_as_it_was(value: fork_client.Value) -> None:
    assert json.loads(fork_client.encoded(value)) == value


def test_memory_with_large_pages_is_the_same_here_and_in_a_fork() -> None:
    kept = {number: f"text {number}" for number in range(200_000)}
    huge_pages.collapse()
    assert kept[199_999] == "text 199999"
    if hasattr(os, "fork"):
        if (process := os.fork()) == 0:
            os._exit(0 if all(text == f"text {number}" for number, text in kept.items()) else 1)
        assert os.waitpid(process, 0)[1] == 0
