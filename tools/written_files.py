"""The files that a run wrote, as events."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.results import RunFile
from tools.events import FileChange, FileWritten


async def written_by_run(files: UserFiles | None, written: Sequence[RunFile]) -> AsyncGenerator[FileWritten]:
    """An event for each file that a run wrote, with its content if it is text.

    Args:
        files: the user's files.
        written: what the run wrote.
    """
    for file in written:
        change = FileChange(path=file.path, size=file.size, change="created" if file.new else "replaced")
        content = "" if files is None else await asyncio.to_thread(_text, files, file.path)
        yield FileWritten(change=change, content=content, by_run=True)


def _text(files: UserFiles, path: str) -> str:
    try:
        return files.read(path)
    except FileRefused:
        return ""
