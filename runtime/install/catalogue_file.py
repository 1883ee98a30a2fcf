"""The exported component catalogue: written by the engine, and read again after another export."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from flows.catalogue import Catalogue, CatalogueFormatError, CatalogueMissing
from flows.document import Json
from flows.json_values import as_object
from runtime.engine.environment_variables import engine_environment
from runtime.install.errors import InstallError
from runtime.processes import run_program

EXPORT_TIMEOUT = 300.0
Version = tuple[int, int, int]
"""Modification time, size and inode of a file."""


class CatalogueFile:
    """One catalogue file, which is read again only when it has changed."""

    def __init__(self, path: Path, fallback: Callable[[], Catalogue | None] | None = None) -> None:
        """Read nothing yet.

        Args:
            path: the file.
            fallback: gives the component types while there is no such file, or None.
        """
        self._path = path
        self._fallback = fallback or (lambda: None)
        self._catalogue: Catalogue | None = None
        self._version: Version | None = None
        self._lock = asyncio.Lock()

    @property
    def available(self) -> bool:
        """Whether the component types are available without waiting for an installation."""
        return self._catalogue is not None or self._path.exists() or self._fallback() is not None

    async def current(self) -> Catalogue:
        """The component types as they were last exported; they stay when the file has since been removed or damaged.

        While they have never been exported, they are the fallback's.

        Raises:
            CatalogueMissing, CatalogueFormatError: the file has never been readable.
        """
        async with self._lock:
            version = version_of(self._path)  # quicker than waking a thread for it
            if self._catalogue is not None and version in {None, self._version}:
                return self._catalogue
            try:
                self._catalogue = await asyncio.to_thread(Catalogue.load, self._path)
            except (CatalogueMissing, CatalogueFormatError):
                if self._catalogue is None:
                    fallback = await asyncio.to_thread(self._fallback)
                    if fallback is None:
                        raise
                    return fallback
            self._version = version
            return self._catalogue


def version_of(file: Path) -> Version | None:
    """The version of a file, which changes with its content; None if there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


async def export_catalogue(python: Path, main: Path, target: Path, identity: str) -> None:
    """Have the engine write its catalogue, and move it to `target` in one step.

    Args:
        python: the interpreter of the engine's environment.
        main: the engine's program.
        target: where the file goes.
        identity: identifies the environment and the exporter in the file.

    Raises:
        InstallError: the environment cannot export it.
    """
    with tempfile.TemporaryDirectory(prefix="wirewright-") as folder:
        fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
        variables = engine_environment(Path(folder))
        try:
            command = [str(python), "-I", "-X", "utf8", str(main), "index", str(fresh), identity]
            code = await run_program(command, variables, Path(folder), timeout=EXPORT_TIMEOUT)
            if code != 0 or not await asyncio.to_thread(component_count, fresh):
                raise InstallError(
                    "The flow engine is installed, but cannot be read.", "Repair it: wirewright runner install --repair"
                )
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)


def component_count(file: Path) -> int:
    """How many component types a catalogue file has; 0 for an incomplete file."""
    try:
        found: Json = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
    return len(as_object(as_object(found).get("components")))
