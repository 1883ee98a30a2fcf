"""What a command writes: documents and answers on standard output, notes on standard error."""

import io
import json
import math
import os
import select
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, cast

import typer


def use_utf8() -> None:
    """Make both streams write UTF-8; a lone surrogate becomes an escape, which JSON can read."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def output_is_closed() -> bool:
    """Whether nobody reads standard output any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLERR)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def close_output() -> None:
    """Write nothing more: what is still held back would meet a closed pipe when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def print_json(document: object) -> None:
    """Write one JSON document, of a type in `cli.documents`, as a line on standard output."""
    typer.echo(encoded(document))


def encoded(value: object) -> str:
    """A value as one line of JSON for every reader; NaN and infinity become null.

    Models and dataclasses in it have the form that their `to_json`, or else pydantic or their fields give them.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_form)
    except ValueError:
        whole: object = json.loads(json.dumps(value, default=_form))
        text = json.dumps(_finite(whole), ensure_ascii=False, allow_nan=False)
    return text.translate(_LINE_ENDS)


def _form(value: Any) -> object:
    """The JSON form of an object."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def print_result(text: str) -> None:
    """Write the result on standard output."""
    typer.echo(text)


def print_message(text: str) -> None:
    """Write a message on standard error."""
    typer.echo(text, err=True)


def progress() -> Callable[[str], None]:
    """A callback that prints each message unless it repeats the last one."""
    last = ""

    def report(message: str) -> None:
        nonlocal last
        if message != last:
            last = message
            print_message(message)

    return report


@contextmanager
def progress_bar(description: str, total: int, completed: int = 0) -> Generator[Callable[[], None]]:
    """A progress bar on standard error, when it is a terminal; yields what advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total, completed=completed)
        yield lambda: bar.advance(task)


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
