"""A real terminal for tests: a command in tmux, with its keys and its screen."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from uuid import uuid4

import pytest

LIMIT_SECONDS = 120

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed on this machine")


class Terminal:
    """A terminal of a given size in which one command runs; leaving it ends the command.

    Args:
        command: what runs in it.
        columns: its width.
        rows: its height.
        environment: variables of the command, beside this process's own.
        folder: where the command starts.
    """

    def __init__(
        self, *command: str | Path, columns: int, rows: int = 40, environment: Mapping[str, str], folder: Path
    ) -> None:
        self._server = f"wirewright-{uuid4().hex[:12]}"
        variables = [f"{name}={value}" for name, value in environment.items()]
        size = ("-x", str(columns), "-y", str(rows))
        self._ended = folder / f"{self._server}.code"
        # tmux itself now and then misses the end of a command; interruptions are the command's alone
        noting = f"trap : INT; \"$@\"; echo $? > '{self._ended}'"
        window = ["sh", "-c", noting, "sh", "env", *variables, *map(str, command)]
        settings = "set -g status off; set -g remain-on-exit on; set -g remain-on-exit-format ''"
        configuration = folder / f"{self._server}.conf"
        configuration.write_text(settings.replace("; ", "\n"))
        self._tmux("-f", str(configuration), "new-session", "-d", *size, "-c", str(folder), "--", *window)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def type(self, text: str) -> None:
        """Type a text, key by key."""
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux."""
        self._tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """Paste a text as a terminal does, in brackets where the command asks for them."""
        self._tmux("set-buffer", "--", text)
        self._tmux("paste-buffer", "-p")

    def screen(self, *, escapes: bool = False) -> str:
        """What can be seen: lines without the spaces at their ends."""
        shown = self._tmux("capture-pane", "-p", *(["-e"] if escapes else []))
        return "\n".join(line.rstrip() for line in shown.split("\n")).rstrip("\n")

    def wait_for(self, pattern: str, *, still: bool = True) -> str:
        """Wait until a pattern is on the screen; returns the screen.

        Args:
            pattern: what to wait for.
            still: whether the screen must stand still, too.
        """
        end, last = time.monotonic() + LIMIT_SECONDS, ""
        while time.monotonic() < end:
            screen = self.screen()
            if (screen == last or not still) and re.search(pattern, screen, re.MULTILINE):
                return screen
            last = screen
            time.sleep(0.1)
        pytest.fail(f"{pattern!r} did not come up:\n{self.screen()}")

    def exit_code(self) -> int:
        """Wait until the command has ended; returns its exit code."""
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            if self._ended.exists() and (code := self._ended.read_text()):
                return int(code)
            time.sleep(0.1)
        pytest.fail(f"The command did not end:\n{self.screen()}")

    def _tmux(self, *arguments: str) -> str:
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["tmux", "-L", self._server, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
