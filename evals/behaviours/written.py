"""What a run of the harness wrote into the user's files."""

from __future__ import annotations

import contextlib
from typing import Final

from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.results import RunResult

FILE_CHARACTERS: Final = 100_000
"""How much of a file that a run writes is recorded."""


def written_texts(files: UserFiles, result: RunResult) -> dict[str, str]:
    """The texts that a run wrote, by path; files that are no text are left out."""
    found: dict[str, str] = {}
    for file in result.files:
        with contextlib.suppress(FileRefused):
            found[file.path] = files.read(file.path)[:FILE_CHARACTERS]
    return found
