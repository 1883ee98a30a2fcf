"""The history of what a person typed, kept over sessions in a file that only they can read."""

import itertools
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from prompt_toolkit.history import FileHistory

from flows.fields.keys import without_keys
from runtime.files.atomic import NO_FOLLOW, write_atomically

FILE = "chat_history"
LIMIT = 1_000_000
"""Bytes from which on the older half of the history is dropped."""

ENTRIES = 1_000
"""How many messages can be called back."""


class MessageHistory(FileHistory):
    """Messages in the data folder, without the keys that were typed in them.

    Args:
        data: the data folder.

    Attributes:
        failed: whether the file could not be read or written, so that the history ends with this process.
    """

    def __init__(self, data: Path) -> None:
        super().__init__(str(data / FILE))
        self._path = data / FILE
        self.failed = False

    def append_string(self, string: str) -> None:
        """Remember a message."""
        super().append_string(without_keys(string))

    def load_history_strings(self) -> Iterable[str]:
        """The messages of earlier sessions, latest first."""
        try:
            return list(itertools.islice(super().load_history_strings(), ENTRIES))
        except OSError:
            self.failed = True
            return []

    def store_string(self, string: str) -> None:
        """Add a message to the file."""
        lines = "".join(f"+{line}\n" for line in string.split("\n"))
        entry = f"\n# {datetime.now(UTC).isoformat(timespec='seconds')}\n{lines}".encode(errors="replace")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._drop_old()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_FOLLOW, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(entry)
        except OSError:
            self.failed = True

    def _drop_old(self) -> None:
        """Keep the newer half of a file that has grown too large."""
        if self._path.exists() and self._path.stat().st_size > LIMIT:
            kept = self._path.read_bytes()[-LIMIT // 2 :]
            write_atomically(self._path, kept[kept.find(b"\n# ") :])
