"""What a command writes: documents and answers on standard output, notes on standard error."""

import io
import json
import math
import os
import select
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO, cast

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


def print_json(value: object) -> None:
    """Write one JSON document as a line on standard output."""
    typer.echo(encoded(value))


def encoded(value: object) -> str:
    """A value as one line of JSON for every reader; NaN and infinity become null."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return text.translate(_LINE_ENDS)


_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


def print_result(text: str) -> None:
    """Write the result on standard output."""
    typer.echo(text)


def print_message(text: str) -> None:
    """Write a message on standard error."""
    typer.echo(text, err=True)


def print_prose(text: str, *, err: bool = True) -> None:
    """Write text for a person to read: at a terminal no line is longer than its width, and words stay whole.

    Args:
        text: the text.
        err: whether it is a message, on standard error, or an answer, on standard output.
    """
    width = terminal_width(sys.stderr if err else sys.stdout)
    if width is not None:
        from cli.output.wrapping import wrapped

        text = wrapped(text, width)
    typer.echo(text, err=err)


def terminal_width(stream: TextIO) -> int | None:
    """How many columns the terminal of a stream has; None if it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


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
