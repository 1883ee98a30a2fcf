"""`wirewright components scan`: check component source for what no component may do."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.errors import FAILED, ErrorJson, Stopped
from cli.options import Json
from cli.output.streams import answer, document, note

if TYPE_CHECKING:
    from runtime.guard import Violation

STANDARD_INPUT = "-"
_SHAPE = 'Send {"id": …, "code": "…"}, one a line.'


@dataclass(frozen=True)
class Input:
    """One source to scan, or what is wrong with its line."""

    name: object
    code: str | None
    error: ErrorJson | None = None


def scan(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help='A Python file; - reads {"id", "code"} and answers in JSON, one a line.'),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Check component source for what no component may do; nothing in it is run."""
    if file == STANDARD_INPUT:
        _answer_lines()
    else:
        _scan_file(file, as_json=as_json)


def _scan_file(file: str, *, as_json: bool) -> None:
    from cli.flow.source import read
    from runtime.guard import scan as read_source

    source = read(file)
    violations = read_source(source.text)
    if as_json:
        document({"ok": not violations, "id": source.name, "violations": [found.to_json() for found in violations]})
    else:
        for found in violations:
            answer(_line(source.name, found))
        if not violations:
            note(f"{source.name}: nothing found.")
    if violations:
        raise typer.Exit(FAILED)


def _answer_lines() -> None:
    """Answer each line with one, in order, whatever it holds."""
    from runtime.guard import scan as read_source

    for item in _inputs():
        violations = [] if item.code is None else read_source(item.code)
        row: dict[str, object] = {"id": item.name, "violations": [found.to_json() for found in violations]}
        if item.error is not None:
            row["error"] = item.error
        document(row)


def _line(name: str, found: "Violation") -> str:
    return f"{name}:{found.line}: {found.rule}: {found.message} {found.fix}"


def _inputs() -> Iterator[Input]:
    """The sources on standard input, each as soon as its line arrives."""
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        yield _parsed(line, number)


def _parsed(line: bytes, number: int) -> Input:
    try:
        row: object = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        return _unreadable(None, number, "The line is not UTF-8 text.", "Send UTF-8.")
    except (ValueError, RecursionError):
        return _unreadable(None, number, "The line is not JSON.", _SHAPE)
    if not isinstance(row, dict):
        return _unreadable(None, number, "The line is not a JSON object.", _SHAPE)
    fields = cast("dict[str, object]", row)
    code = fields.get("code")
    if not isinstance(code, str):
        return _unreadable(fields.get("id"), number, "The line has no text under `code`.", _SHAPE)
    return Input(fields.get("id"), code)


def _unreadable(name: object, number: int, message: str, fix: str) -> Input:
    return Input(name, None, Stopped("unreadable", message, fix=fix, where=f"line {number}").to_json())
