"""What `--json` prints is of the types that document it: every command has some, and what was captured fits them."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator, ValidationError
from typer.main import get_command

from cli.documents.registry import PRINTED
from cli.main import command_line
from scripts.cli_contract import cli_schema
from tests.cli.test_main import commands

ROOT = Path(__file__).parent.parent.parent.parent
SNAPSHOTS = ROOT / "tests" / "surfaces" / "snapshots"
CAPTURED = [
    path
    for path in sorted(SNAPSHOTS.glob("cli-*/*.txt"))
    if "--json" in path.read_text(encoding="utf-8").partition("\n")[0]
]


@cache
def schema() -> dict[str, Any]:
    """The documents' schema."""
    return cli_schema()


def command_of(line: str) -> str:
    """The command in a captured command line; an empty text when it names none."""
    words = [word for word in line.split()[2:] if not word.startswith("-") and word != "scenarios"]
    found = [name for name in PRINTED if words[: len(name.split())] == name.split()]
    return max(found, key=len, default="")


def documents(transcript: str) -> Iterator[Any]:
    """The documents on the standard output of a captured command."""
    text = transcript.partition("--- stdout\n")[2].partition("\n--- ")[0].lstrip()
    decoder = json.JSONDecoder()
    while text:
        found, end = decoder.raw_decode(text)
        yield _measured(found)
        text = text[end:].lstrip()


def _measured(value: Any, key: str = "") -> Any:
    """A document with some number or flag in place of each measurement, for which snapshots have its key."""
    if isinstance(value, dict):
        return {name: _measured(item, name) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_measured(item) for item in cast("list[Any]", value)]
    if value == f"<{key}>" and key not in _TEXTS:
        return _CHOICES.get(key, 0)
    return value


_TEXTS = {"digest", "folder", "python", "note"}
"""Keys whose placeholders stand for texts."""
_CHOICES: dict[str, Any] = {"active": True, "missing_protections": [], "refusal": None, "run_confinement": "required"}
"""What stands for others that are no numbers."""


def validator(names: list[str]) -> Draft202012Validator:
    """Accepts what one of the types describes."""
    choices = [{"$ref": f"#/$defs/{name}"} for name in names]
    return Draft202012Validator({"anyOf": choices, "$defs": schema()["$defs"]})


def faults(names: list[str], found: Any) -> list[str]:
    """Why a document is of none of the types."""
    errors: list[ValidationError] = list(validator(names).iter_errors(found))  # pyright: ignore[reportUnknownMemberType]  (its stubs)
    return [
        f"{'/'.join(map(str, part.absolute_path))}: {part.message[:300]}"
        for error in errors
        for part in (error.context or [error])
    ]


def test_every_command_has_the_types_of_what_it_prints() -> None:
    documented = {" ".join(path) for path, _ in commands(get_command(command_line()))} - {"mcp"}  # it speaks MCP
    assert set(PRINTED) == documented
    assert all(printed.document or printed.lines for printed in PRINTED.values())


def test_the_schema_is_valid() -> None:
    Draft202012Validator.check_schema({"$defs": schema()["$defs"]})


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_what_a_command_printed_is_of_its_types(path: Path) -> None:
    transcript = path.read_text(encoding="utf-8")
    name = command_of(transcript.partition("\n")[0])
    kinds: dict[str, list[str]] = schema()["commands"].get(name, {"document": [], "lines": []})
    found = list(documents(transcript))
    assert found
    for one in found[:-1]:
        several = kinds["document"] if "-lines-" in path.name else kinds["lines"]
        assert faults(several, one) == []
    last = kinds["document"] or kinds["lines"]
    assert faults([*last, "Failed"], found[-1]) == []


def test_a_document_with_another_key_or_without_one_is_of_no_type() -> None:
    assert faults(["Checked"], {"ok": True, "faults": []}) == []
    assert faults(["Checked"], {"ok": True, "faults": [], "more": 1})
    assert faults(["Checked"], {"ok": True})
    assert faults(["Failed"], {"error": {"code": "usage", "message": "m", "fix": "f"}})


def test_no_command_prints_a_document_that_is_written_by_hand() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in sorted((ROOT / "cli").rglob("*.py"))
        if "chat" not in path.parts
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "print_json"
        and any(isinstance(argument, ast.Dict | ast.DictComp) for argument in call.args)
    ]
    assert found == []
