"""What a command writes: documents and answers on standard output, everything else on standard error."""

import io
import json
import math
import sys
from collections.abc import Callable

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
    """A value as one line of JSON; numbers that JSON cannot say become null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


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
            return {str(key): _finite(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # JSON of any shape
        case list() | tuple():
            return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]  # JSON of any shape
        case _:
            return value
