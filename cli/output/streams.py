"""What a command writes: documents and answers on standard output, everything else on standard error."""

import io
import json
import math
import sys
from collections.abc import Callable
from typing import cast

import typer


def use_utf8() -> None:
    """Make both streams write UTF-8; half a surrogate pair becomes the escape that JSON, too, understands."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def document(value: object) -> None:
    """Write one JSON document as a line on standard output."""
    typer.echo(encoded(value))


def encoded(value: object) -> str:
    """A value as one line of JSON, whatever a reader takes for a line's end; numbers that JSON lacks become null."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return text.translate(_LINE_ENDS)


_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def answer(text: str) -> None:
    """Write what the user asked for on standard output."""
    typer.echo(text)


def note(text: str) -> None:
    """Write a message on standard error."""
    typer.echo(text, err=True)


def progress() -> Callable[[str], None]:
    """A callback that notes each message once, however often it is repeated in a row."""
    last = ""

    def tell(message: str) -> None:
        nonlocal last
        if message != last:
            last = message
            note(message)

    return tell


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): _finite(item) for key, item in cast("dict[object, object]", value).items()}
        case list() | tuple():
            return [_finite(item) for item in cast("list[object]", value)]
        case _:
            return value
