"""`wirewright components scan`: check component source for what no component may do."""

import json
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.errors import FAILED, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.documents.components import ScannedLine, ViolationObject
    from runtime.guard import Violation

STANDARD_INPUT = "-"
_SHAPE = 'Send {"id": …, "code": "…"}, one per line.'


def scan(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help='A Python file; - reads {"id", "code"} and answers in JSON, one per line.'),
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
    from cli.documents.components import Scanned
    from cli.input.texts import read
    from runtime.guard import scan as read_source

    source = read(file)
    violations = read_source(source.text)
    if as_json:
        shown = [_object(found) for found in violations]
        print_json(Scanned(ok=not violations, id=source.name, violations=shown))
    else:
        for found in violations:
            print_result(_line(source.name, found))
        if not violations:
            print_message(f"{source.name}: nothing found.")
    if violations:
        raise typer.Exit(FAILED)


def _answer_lines() -> None:
    """Answer each line with one, in order, as soon as it arrives and whatever it holds."""
    from cli.input.lines import typed_lines

    for number, line in enumerate(typed_lines(), start=1):
        print_json(_answered(line, number))


def _answered(line: str | CommandError, number: int) -> "ScannedLine":
    from cli.documents.components import ScannedLine
    from runtime.guard import scan as read_source

    def refused(message: str, name: object = None) -> "ScannedLine":
        error = CommandError("unreadable", message, fix=_SHAPE, where=f"line {number}").to_json()
        return ScannedLine(id=name, violations=[], error=error)

    if isinstance(line, CommandError):
        return ScannedLine(id=None, violations=[], error=line.to_json())
    try:
        row: object = json.loads(line)
    except (ValueError, RecursionError):
        return refused("The line is not JSON.")
    if not isinstance(row, dict):
        return refused("The line is not a JSON object.")
    fields = cast("dict[str, object]", row)
    name, code = fields.get("id"), fields.get("code")
    if not isinstance(code, str):
        return refused("The line has no text under `code`.", name=name)
    return ScannedLine(id=name, violations=[_object(found) for found in read_source(code)])


def _object(found: "Violation") -> "ViolationObject":
    from cli.documents.components import ViolationObject

    return ViolationObject(rule=found.rule, line=found.line, message=found.message, fix=found.fix)


def _line(name: str, found: "Violation") -> str:
    return f"{name}:{found.line}: {found.rule}: {found.message} {found.fix}"
