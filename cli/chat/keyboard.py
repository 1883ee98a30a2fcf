"""The keyboard of a terminal while nothing is being edited."""

import contextlib
import sys
import termios
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def silent_keyboard() -> Generator[None]:
    """Do not show what is typed, and keep it for the next prompt; Ctrl-C still interrupts.

    An editor changes the terminal while it reads, and goes back to this.
    """
    keyboard = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(keyboard)
    except termios.error:  # the terminal is gone
        yield
        return
    silent = termios.tcgetattr(keyboard)
    silent[0] &= ~termios.ICRNL  # so that Enter sends what was typed ahead
    silent[3] &= ~(termios.ECHO | termios.ICANON)
    try:
        termios.tcsetattr(keyboard, termios.TCSANOW, silent)
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
