"""Takes files into a run and out of it: copies for it to read, and what it wrote, among the user's files."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from runtime.files.flow_files import GivenFiles
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.redaction import Redactor
from runtime.results import RunError, RunFailed, RunFile, RunResult

GIVEN_LIMIT: Final = 128 * 1024 * 1024
"""Bytes of all files that one run may read."""


def stage(given: GivenFiles, files: UserFiles | None, folder: Path) -> None:
    """Copy the files that a run may read into a new folder; the copies are its own.

    Raises:
        RunFailed: one of them was removed meanwhile, or they are too large together.
    """
    folder.mkdir(mode=0o700, parents=True)
    size = 0
    for path in sorted(given.paths):
        target = folder / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if files is None:
                raise FileRefused(f"There is no {path}.")
            with files.opened(path) as source, target.open("xb") as copy:
                shutil.copyfileobj(source, copy)
        except FileRefused as refused:
            message = f"A file of the flow cannot be read: {refused.message}"
            raise RunFailed(RunError(code="missing_input", message=message, fix="Add the file again.")) from None
        size += target.stat().st_size
        if size > GIVEN_LIMIT:
            message = f"The files of the flow have more than {GIVEN_LIMIT // 1024 // 1024} MB together."
            raise RunFailed(RunError(code="limit", message=message, fix="Let it read fewer files, or smaller ones."))
    for path, content in given.samples.items():
        if not (folder / path).exists():
            (folder / path).write_bytes(content)


class Stages(Protocol):
    """What runs are sent to: it knows where their files are staged."""

    async def running(self) -> object:
        """Wait until the engine runs."""
        ...

    def staging_folder(self) -> Path:
        """A path for the files of one run; nothing is there yet."""
        ...


@dataclass
class FileExchange:
    """The files of one run, from the user's folder to the engine and back.

    Attributes:
        given: what the run may read.
        files: the user's files; None for none.
        engine: where they are staged.
        returned: the content of each file that the run wrote, by its path.
    """

    given: GivenFiles
    files: UserFiles | None
    engine: Stages
    returned: Sequence[tuple[str, bytes]] = ()

    @asynccontextmanager
    async def staged(self) -> AsyncGenerator[Path | None]:
        """A folder with copies of the files, for as long as the run may need it; None if there are none.

        Raises:
            RunFailed: they cannot be copied, or there is no engine.
        """
        if not self.given.paths and not self.given.samples:
            yield None
            return
        await self.engine.running()
        folder = self.engine.staging_folder()
        try:
            await asyncio.to_thread(stage, self.given, self.files, folder)
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def keep(self, result: RunResult, redactor: Redactor, *, keep: bool = True) -> RunResult:
        """Write what the run wrote into the user's files, if it is to be kept; it blocks: call it in a thread."""
        return _kept(result, self.returned, self.files if keep else None, redactor)


def _kept(
    result: RunResult, contents: Sequence[tuple[str, bytes]], files: UserFiles | None, redactor: Redactor
) -> RunResult:
    """Write what a run wrote into the user's files; the result names it, or has the error if it cannot be kept.

    Args:
        result: the run's result.
        contents: the content of each file, by its path.
        files: the user's files; None keeps nothing.
        redactor: removes the secrets of the run.
    """
    kept: list[RunFile] = []
    error = result.error
    if files is None:
        return result
    for path, content in contents:
        try:
            written = files.write_bytes(path, redactor.content(content))
        except FileRefused as refused:
            message = f"The run wrote {path[:200]!r}, which cannot be kept: {refused.message}"
            fix = "Give the file another name, or remove files that are no longer needed."
            error = error or RunError(code="limit", message=message, fix=fix)
            continue
        kept.append(RunFile(path=written.path, size=written.size, new=written.new))
    return replace(result, files=tuple(kept), error=error)
