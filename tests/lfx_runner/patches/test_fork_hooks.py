"""Hooks that are called at every fork: those of one library are left out."""

import os
from types import FunctionType
from typing import Any

import pytest

from lfx_runner.patches import fork_hooks


def test_the_hooks_of_one_library_are_left_out_and_all_others_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[dict[str, Any]] = []
    monkeypatch.setattr(os, "register_at_fork", lambda **hooks: registered.append(hooks), raising=False)
    fork_hooks.install()
    for module in ("filelock._api", "filelock", "filelocks", "logging"):
        code = compile(f"os.register_at_fork(before={module!r})", "", "exec")
        FunctionType(code, {"__name__": module, "os": os})()
    assert registered == [{"before": "filelocks"}, {"before": "logging"}]
