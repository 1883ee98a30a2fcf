"""The files of a run: those that it is given are in its working folder, and what it leaves there is returned."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

MAX_FILES = 50
"""How many files a run may write."""
MAX_BYTES = 16 * 1024**2
"""Bytes of all files that a run writes."""
USER = "00000000-0000-4000-8000-000000000001"
"""The id of the user of every run, as the engine sees it: it lets components reach that user's own files alone."""
WORK = f"home/{USER}"
"""A run's working folder inside its private folder: where the engine keeps that user's files."""

Stamps = Mapping[str, tuple[int, int, int]]
"""By path: when a file was changed, its size and its inode."""


class FilesTooLarge(Exception):
    """A run wrote more files, or more bytes, than are returned."""


class EmptyFile(Exception):
    """A file that a component parses has no content."""


def _readable(node: Mapping[str, Any], path: Path) -> str:
    """The file for a node to read; a workbook becomes a table beside it for a node that would need a parser for it."""
    if node.get("data", {}).get("type") != "File" or path.suffix.lower() != ".xlsx" or not path.is_file():
        return str(path)
    import pandas  # imported before the fork

    if path.stat().st_size == 0:
        raise EmptyFile(f"Error loading file {path.name}: cannot read an empty file")
    table = path.with_name(f"{path.name}.csv")
    pandas.read_excel(path).to_csv(table, index=False)
    return str(table)


def place_fields(flow: Mapping[str, Any], fields: list[list[str]], work: Path) -> None:
    """Make the file names in these fields (node id, field) absolute: the engine takes others for storage keys.

    An empty workbook raises `EmptyFile`; one that cannot be read raises what its reader raises.
    """
    wanted = {(node, field) for node, field in fields}
    for node in _every_node(flow):
        template = node.get("data", {}).get("node", {}).get("template", {})
        for name, field in template.items():
            if (node.get("id"), name) in wanted and isinstance(field, dict):
                value = field.get("value")
                placed = (
                    [_readable(node, work / each) for each in value]
                    if isinstance(value, list)
                    else _readable(node, work / str(value))
                )
                field["value"] = placed
                if "file_path" in field or field.get("type") == "file":
                    field["file_path"] = placed


def stamps(work: Path) -> Stamps:
    """What the files below the working folder are like now, to notice changes."""
    return dict(_stamps(work))


def written_files(work: Path, before: Stamps) -> dict[str, bytes]:
    """The content of each new or changed file below the working folder, by its path.

    Raises:
        FilesTooLarge: they are too many, or too large together.
    """
    sizes = {path: stamp[1] for path, stamp in _stamps(work) if before.get(path) != stamp}
    if len(sizes) > MAX_FILES:
        raise FilesTooLarge(f"The run wrote {len(sizes)} files; at most {MAX_FILES} are kept.")
    if sum(sizes.values()) > MAX_BYTES:
        raise FilesTooLarge(f"The run wrote files of more than {MAX_BYTES // 1024**2} MB together.")
    return {path: (work / path).read_bytes() for path in sorted(sizes)}


def without_folder(line: bytes, work: Path) -> bytes:
    """A result without the name of the working folder, which means nothing to anyone else."""
    folder = os.fsencode(work)
    return line.replace(folder + b"/", b"").replace(folder, b".")


def keep_locally() -> None:
    """Let the component that writes files keep them: it would upload them to Langflow's file storage as well."""

    async def upload_user_file(**_: object) -> None:
        return None

    async def get_user_by_id(*_: object) -> None:
        return None

    for name, function in (
        ("langflow.api.v2.files", upload_user_file),
        ("langflow.services.database.models.user.crud", get_user_by_id),
    ):
        module = ModuleType(name)
        setattr(module, function.__name__, function)
        sys.modules.setdefault(name, module)


def _stamps(work: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Each regular file below a folder that has no other name; links are not followed."""
    for folder, _, names in os.walk(work):
        for name in names:
            path = Path(folder) / name
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                yield path.relative_to(work).as_posix(), (found.st_mtime_ns, found.st_size, found.st_ino)


def _every_node(flow: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for node in flow.get("nodes") or ():
        yield node
        group = node.get("data", {}).get("node", {}).get("flow") or {}
        yield from _every_node(group.get("data") or {})
