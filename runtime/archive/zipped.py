"""The file of an archive: a ZIP that only its owner can read, written completely or not at all."""

from __future__ import annotations

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from flows.document import JsonObject
from runtime.archive.errors import not_an_archive
from runtime.files.atomic import CREATE, OWNER_ONLY
from runtime.files.names import TEMPORARY_PREFIX

MANIFEST: Final = "manifest.json"
TABLES: Final = "tables/"
DATA: Final = "data/"
VERSION: Final = 1
"""The version of the form of archives."""


@contextmanager
def writing(path: Path) -> Generator[zipfile.ZipFile]:
    """Write an archive; it is in its place when the block ends, and not there when the block raises.

    A link is followed. Devices and pipes are written directly.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as device, zipfile.ZipFile(device, "w", zipfile.ZIP_DEFLATED) as archive:
            yield archive
        return
    unfinished = target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(unfinished, CREATE, OWNER_ONLY), "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                yield archive
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def add_manifest(archive: zipfile.ZipFile, kind: str, facts: JsonObject) -> None:
    """Add what an archive says of itself, which comes last."""
    manifest = {"archive": kind, "version": VERSION, **facts}
    archive.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))


@contextmanager
def reading(path: Path, kind: str, command: str) -> Generator[tuple[zipfile.ZipFile, JsonObject]]:
    """Read an archive, with what it says of itself.

    Args:
        path: the file.
        kind: what it must be.
        command: what writes such archives, for errors.

    Raises:
        ArchiveError: it is something else, or damaged.
        OSError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if _is_damaged(archive):
                raise not_an_archive(command)
            manifest: JsonObject = json.loads(archive.read(MANIFEST))
            if manifest.get("archive") != kind or manifest.get("version") != VERSION:
                raise not_an_archive(command)
            yield archive, manifest
    except (zipfile.BadZipFile, KeyError, ValueError, AttributeError, EOFError) as damaged:
        raise not_an_archive(command) from damaged


def _is_damaged(archive: zipfile.ZipFile) -> bool:
    """Whether a file in an archive cannot be read as it was written."""
    try:
        return archive.testzip() is not None
    except (zlib.error, NotImplementedError, RuntimeError):  # what is no stream, compressed in another way, encrypted
        return True
