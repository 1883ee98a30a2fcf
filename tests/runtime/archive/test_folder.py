"""What the data folder holds is in a backup, or is left out for a reason: nothing that code puts there is forgotten."""

import ast
import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runtime.archive.folder import FILES, FOLDERS

ROOT = Path(__file__).parents[3]
LEFT_OUT = {
    "wirewright.db": "the database, whose rows are in the archive",
    "conversations.sqlite": "the database of version 0.1, whose content was taken over",
    "undo": "files as they were before a turn that was interrupted, whose records are not kept either",
    "secret.lock": "a lock",
    "cache": "what is installed or computed, and can be made anew",
}
"""What is not in a backup, and why."""


def sources() -> list[Path]:
    """The modules of ours that may write into the data folder."""
    listed = subprocess.run(
        ["git", "ls-files", "agent", "cli", "flows", "runtime", "server", "tools"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / name for name in listed.stdout.split() if name.endswith(".py")]


def is_data(node: ast.expr) -> bool:
    """Whether an expression is the data folder, as all of our code names it."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_") == "data"
        case ast.Call(func=ast.Name(id=name)):
            return name == "data_folder"
        case _:
            return False


def joined(path: Path) -> Iterator[str]:
    """The names that a module joins to the data folder."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and is_data(node.left):
            if isinstance(node.right, ast.Constant):
                yield str(node.right.value)
            elif isinstance(node.right, ast.Name) and node.right.id.isupper():
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield str(getattr(importlib.import_module(module), node.right.id))


def test_every_name_in_the_data_folder_is_backed_up_or_left_out_for_a_reason() -> None:
    found = {name for path in sources() for name in joined(path)}
    assert {"token", "users.key", "secret.key", "users", "servers.json", "trusted-components.json"} <= found
    assert found - {*FILES, *FOLDERS} == set(LEFT_OUT)
