"""The page's own tests, run by the Node that builds it."""

import pytest

from scripts.page import ROOT, is_current, npm


def _npm(*words: str) -> None:
    if not is_current(ROOT):
        pytest.skip("the page is not built: `make page` says why")
    npm(ROOT, *words)


def test_the_pure_parts_of_the_page_do_what_they_should() -> None:
    _npm("run", "test")
