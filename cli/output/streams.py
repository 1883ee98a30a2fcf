"""What a command writes: documents and answers on standard output, notes on standard error."""

import io
import json
import math
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TextIO, cast

import typer

from cli.output.starting import end_notice

PACE_SECONDS = 10.0
"""How far apart lines about progress are where they cannot be taken back."""


def use_utf8() -> None:
    """Read and write UTF-8 whatever the locale; a lone surrogate becomes an escape, which JSON can read."""
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)


def open_closed_streams() -> None:
    """Read nothing and write nowhere where a standard stream was closed by whoever started this program."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def start_in_utf8() -> None:
    """Start this program again in UTF-8 mode where the locale would garble arguments and file names."""
    if sys.flags.utf8_mode or sys.getfilesystemencoding() == "utf-8" or not sys.executable:
        return
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  (this program)


def is_live(stream: TextIO) -> bool:
    """Whether what was written can be taken back: on a terminal that takes escape sequences, and without NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


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
    clear_progress()
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
        form: object = value.to_json()
        return json.loads(form) if isinstance(form, str) else form
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


_CLEAR_LINE = "\r\x1b[2K"
_LINE_ENDS = {0x85: r"\u0085", 0x2028: r"\u2028", 0x2029: r"\u2029"}


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
"""How control characters are shown: names and outputs of others may hold sequences that a terminal would follow."""


def printable(stream: TextIO, text: str) -> str:
    """A text as a stream gets it: to a file or a pipe to the letter, to a terminal with its control characters named.

    Args:
        stream: where it is written.
        text: the text.
    """
    return text.translate(_CONTROLS) if stream.isatty() else text


def print_result(text: str) -> None:
    """Write the result on standard output; to a file or a pipe to the letter."""
    clear_progress()
    typer.echo(printable(sys.stdout, text), color=True)


def print_styled(text: str) -> None:
    """Write text with escape sequences of our own on standard output."""
    clear_progress()
    typer.echo(text)


def print_message(text: str) -> None:
    """Write a message on standard error; at a terminal its words stay whole."""
    print_prose(printable(sys.stderr, text))


def print_prose(text: str, *, err: bool = True) -> None:
    """Write text for a person to read: at a terminal no line is longer than its width, and words stay whole.

    Args:
        text: the text.
        err: whether it is a message, on standard error, or an answer, on standard output.
    """
    clear_progress()
    width = terminal_width(sys.stderr if err else sys.stdout)
    if width is not None:
        from cli.output.wrapping import wrapped

        text = wrapped(text, width)
    typer.echo(printable(sys.stderr if err else sys.stdout, text), err=err)


def terminal_width(stream: TextIO) -> int | None:
    """How many columns the terminal of a stream has; None if it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def progress() -> Callable[[str], None]:
    """A callback that shows each message unless it repeats the last one.

    On a terminal, messages take one line in turn, and whatever is printed next takes its place.
    """
    last = ""

    def report(message: str) -> None:
        nonlocal last
        if message == last:
            return
        last = message
        if is_live(sys.stderr):
            _show_progress(message)
        else:
            print_message(message)

    return report


def paced_progress(seconds: float = PACE_SECONDS, clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """A callback like that of `progress` for what changes often: where lines stay, it shows the latest now and then.

    Args:
        seconds: how far apart two lines are that stay.
        clock: the time in seconds.
    """
    report, due = progress(), float("-inf")

    def show(message: str) -> None:
        nonlocal due
        if is_live(sys.stderr) or clock() >= due:
            due = clock() + seconds
            report(message)

    return show


_shown_progress = False


def _show_progress(message: str) -> None:
    global _shown_progress
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write(f"{_CLEAR_LINE}{' '.join(message.split())[:width]}")
    sys.stderr.flush()
    _shown_progress = True


def clear_progress() -> None:
    """Remove a progress message from the terminal."""
    global _shown_progress
    if end_notice() or _shown_progress:
        _shown_progress = False
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()


@contextmanager
def progress_bar(description: str, total: int, completed: int = 0) -> Generator[Callable[[], None]]:
    """A progress bar on standard error, when it is a terminal; yields what advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    clear_progress()
    with Progress(*columns, console=Console(stderr=True), disable=not is_live(sys.stderr), transient=True) as bar:
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
