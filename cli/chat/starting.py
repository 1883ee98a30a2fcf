"""The first moments of a conversation at a terminal, before the modules are loaded that it needs."""

import os
import signal
import sys
from collections.abc import Sequence

from cli.chat.keyboard import silence
from cli.output.starting import show_starting

_NO_EDITOR = frozenset({"--json", "--list", "--help"})


def start_early(arguments: Sequence[str]) -> None:
    """Say that a conversation starts, and keep what is typed meanwhile for its first prompt.

    Other commands, and conversations without an editor, begin as they are.

    Args:
        arguments: what follows the program's name.
    """
    if list(arguments[:1]) != ["chat"] or not _NO_EDITOR.isdisjoint(arguments) or not has_editor():
        return
    if sys.getfilesystemencoding() != "utf-8":  # the program is about to start anew
        return
    signal.signal(signal.SIGTERM, _leave)
    silence()
    show_starting("Starting...")


def _leave(number: int, _: object) -> None:
    """Leave in a way that sets the terminal back."""
    sys.exit(128 + number)


def has_editor() -> bool:
    """Whether a person types at a terminal that can show an editor."""
    named = os.environ.get("TERM", "") not in {"", "dumb", "unknown"}
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return named and all(stream is not None for stream in streams) and sys.stdin.isatty() and sys.stdout.isatty()
