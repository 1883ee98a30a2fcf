"""The last event of a turn is made in one place, and the contract's names are declared once."""

import ast
from collections.abc import Iterator
from pathlib import Path

from agent.contract.events import Ending, models_of
from agent.contract.requests import STREAM_PATH

ROOT = Path(__file__).parents[3]
FLOORS = ("agent", "cli", "evals", "runtime", "server", "tools")
ENDINGS = {model.__name__ for model in models_of(Ending)}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """The modules that may know the contract, by their paths."""
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_bytes())


def made(tree: ast.Module) -> Iterator[str]:
    """What a module makes: the names that it calls, and those whose methods it calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            yield name


def test_the_last_event_of_a_turn_is_made_in_one_place() -> None:
    assert {"CompleteEvent", "ErrorEvent", "CancelledEvent"} == ENDINGS
    assert {path for path, tree in sources() if ENDINGS & set(made(tree))} == {"agent/contract/endings.py"}


def test_the_path_of_the_stream_is_written_once() -> None:
    written = {
        path
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == STREAM_PATH
    }
    assert written == {"agent/contract/requests.py"}
