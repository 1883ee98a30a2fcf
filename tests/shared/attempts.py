"""Attempts of unguarded code to get out of a real run, and what became of them."""

from collections.abc import Callable

import pytest

from flows.document import JsonObject
from flows.json_values import as_object
from runtime.options import Network
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded

MakeCode = Callable[[str], JsonObject]

REFUSED: JsonObject = {"stopped": "PermissionError"}
"""What becomes of an attempt that the kernel refuses."""

_BODY = """import ctypes, mmap, os, resource, shutil, signal, socket, subprocess
def attempt():
{attempt}
try:
    got = attempt()
except BaseException as stopped:
    return Data(data={{"stopped": type(stopped).__name__}})
return Data(data={{"escaped": str(got)[:300]}})"""

_MISTAKES = {"NameError", "SyntaxError", "AttributeError", "TypeError", "ImportError", "ModuleNotFoundError"}
"""What an attempt that is badly written ends with; none may count as stopped."""


async def outcome(
    runner: Runner,
    make_code: MakeCode,
    attempt: str,
    network: Network = "gateway-only",
    gateway: str | None = None,
) -> JsonObject:
    """What became of an attempt: `stopped` with an exception's name, `escaped` with what it got, or `ended`."""
    body = _BODY.format(attempt="\n".join(f"    {line}" for line in attempt.strip().split("\n")))
    result = await run_unguarded(runner, make_code(body), timeout=30, network=network, gateway=gateway)
    if result.error is not None:
        return {"ended": result.error.code}
    [value] = result.outputs.values()
    ended = as_object(value)
    assert ended.get("stopped") not in _MISTAKES, f"the attempt itself is wrong: {ended}"
    return ended


def needs(active: frozenset[str], *names: str) -> None:
    """Skip where this kernel does not have a protection, saying which."""
    missing = set(names) - active
    if missing:
        pytest.skip(f"not on this kernel: {', '.join(sorted(missing))}")
