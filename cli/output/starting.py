"""The line that says that a command starts, written before the modules are loaded that write everything else."""

import os
import sys

_shown = False


def show_starting(text: str) -> None:
    """Write it on standard error: on a live terminal until something else is written, else as a line.

    Args:
        text: what is said.
    """
    global _shown
    live = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
    _shown = live and sys.stderr.isatty()
    sys.stderr.write(text if _shown else f"{text}\n")
    sys.stderr.flush()


def end_notice() -> bool:
    """Whether it stands on the terminal to be removed; from then on it does not."""
    global _shown
    shown, _shown = _shown, False
    return shown
