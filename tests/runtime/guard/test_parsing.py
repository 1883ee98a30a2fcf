"""Sources are parsed for one thread at a time."""

import ast
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime.guard import scan
from runtime.guard.parsing import expression_of, module_of

SOURCES = ["import os\nos.abort()\n", "def f(a: 'list[int]') -> None:\n    print(a)\n", "x = (", ""]


def test_no_two_threads_parse_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, inside, most = ast.parse, threading.Semaphore(0), list[int]()
    expected = [scan(source) for source in SOURCES]
    at_once = 0

    def watched(*args: Any, **options: Any) -> ast.AST:
        nonlocal at_once
        at_once += 1
        most.append(at_once)
        inside.acquire(timeout=0.02)  # long enough for the other threads to come
        try:
            return parse(*args, **options)
        finally:
            at_once -= 1

    monkeypatch.setattr(ast, "parse", watched)
    readers: list[Callable[[], object]] = [
        *(lambda source=source: scan(source) for source in SOURCES),
        lambda: module_of("a = 1"),
        lambda: expression_of("a + 1"),
    ]
    with ThreadPoolExecutor(len(readers)) as threads:
        found = [one.result() for one in [threads.submit(reader) for reader in readers]]
    assert found[: len(SOURCES)] == expected
    assert len(most) >= len(readers)
    assert max(most) == 1


def test_what_does_not_parse_is_said_and_the_next_source_parses() -> None:
    for parse in (module_of, expression_of):
        with pytest.raises(SyntaxError):
            parse("x = (")
    assert len(module_of("a = 1\nb = 2").body) == 2
