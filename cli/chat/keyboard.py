"""The keyboard of a terminal while nothing is being edited. Windows has no such terminals: there it stays as it is."""

import atexit
import contextlib
import os
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_before: list[Any] | None = None
"""How the terminal was set; None while it is as it was."""
_typed = b""
"""What was typed before the keyboard became silent."""

_READ_BYTES = 4_096


def silence() -> None:
    """Do not show what is typed, and keep it for the next prompt; Ctrl-C still interrupts.

    The terminal is set back by `restore`, at the latest when Python ends.
    """
    global _before, _typed
    if sys.platform == "win32":
        return
    import termios

    keyboard = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(keyboard)
        if _before is None:
            _before = before
            atexit.register(restore)
        silent = termios.tcgetattr(keyboard)
        silent[0] &= ~termios.ICRNL  # so that Enter sends what was typed ahead
        silent[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(keyboard, termios.TCSANOW, silent)
    except termios.error:  # the terminal is gone
        return
    if before[0] & termios.ICRNL:
        _typed += _pending(keyboard).replace(b"\n", b"\r")


def restore() -> None:
    """Set the terminal back to how it was before `silence`."""
    global _before
    if sys.platform == "win32" or _before is None:
        return
    import termios

    before, _before = _before, None
    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


def take_typed() -> str:
    """What was typed before the keyboard became silent, with a carriage return for each Enter; once."""
    global _typed
    typed, _typed = _typed, b""
    return typed.decode(errors="ignore")


@contextmanager
def silent_keyboard() -> Generator[None]:
    """A silent keyboard; an editor changes the terminal while it reads, and goes back to this."""
    silence()
    try:
        yield
    finally:
        restore()


def _pending(keyboard: int) -> bytes:
    """What the terminal has received and nobody has read."""
    found = b""
    with contextlib.suppress(OSError):
        while select.select([keyboard], [], [], 0)[0] and (read := os.read(keyboard, _READ_BYTES)):
            found += read
    return found
