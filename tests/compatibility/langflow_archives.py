"""Zip archives as Langflow 1.x writes them when a project or several flows are downloaded, and ways to damage one."""

import io
import json
import struct
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

VOLATILE = ("updated_at", "user_id", "folder_id", "access_type", "gradient")
LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def export(flow: Mapping[str, Any], name: str, number: int = 0) -> dict[str, Any]:
    """A flow as Langflow's database has it.

    Args:
        flow: the flow.
        name: what it is called.
        number: tells it from others.
    """
    return {
        "id": str(UUID(int=number)),
        "name": name,
        "description": "Made in a project.",
        "icon": None,
        "icon_bg_color": None,
        "gradient": "2",
        "data": json.loads(json.dumps(flow["data"])),
        "is_component": False,
        "updated_at": "2026-03-01T08:00:00+00:00",
        "webhook": False,
        "endpoint_name": None,
        "tags": ["chatbots"],
        "locked": False,
        "mcp_enabled": True,
        "action_name": None,
        "action_description": None,
        "access_type": "PRIVATE",
        "user_id": str(UUID(int=1)),
        "folder_id": str(UUID(int=2)),
    }


def in_lines(document: dict[str, Any]) -> dict[str, Any]:
    """An export as newer versions write it: without what changes by itself, and with code as a list of lines."""
    written: dict[str, Any] = json.loads(json.dumps({key: document[key] for key in document if key not in VOLATILE}))
    for node in written["data"]["nodes"]:
        fields: dict[str, Any] = node["data"]["node"]["template"]
        for name in fields:
            if name == "code":
                fields[name]["value"] = fields[name]["value"].split("\n")
    return written


def older(exports: Sequence[dict[str, Any]]) -> bytes:
    """The project as versions up to 1.8 write it: the bare name of each flow names its file."""
    return packed([(f"{one['name']}.json", json.dumps(one).encode()) for one in exports], zipfile.ZIP_STORED)


def newer(exports: Sequence[dict[str, Any]]) -> bytes:
    """The project as later versions write it: `project.json`, sorted keys, lines of code, and safe names."""
    project = {"project_type": "default", "project_config": None}
    files = [("project.json", json.dumps(project, sort_keys=True).encode())]
    for one in exports:
        name = str(one["name"]).replace("/", "_").replace("\\", "_").replace("..", "_").strip()
        text = json.dumps(in_lines(one), sort_keys=True, indent=2, ensure_ascii=False)
        files.append((f"{name}.json", text.encode()))
    return packed(files, zipfile.ZIP_STORED)


def packed(files: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files, in order; a name may come twice."""
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", method) as archive:
        warnings.simplefilter("ignore", UserWarning)
        for name, content in files:
            archive.writestr(name, content)
    return made.getvalue()


def changed(archive: bytes, name: str, *, flags: int = 0, method: int | None = None, size: int | None = None) -> bytes:
    """An archive that says something else of a file of it, in both of its headers.

    Args:
        archive: the archive.
        name: the file, whose name is ASCII.
        flags: bits that are set.
        method: how it is said to be compressed.
        size: how many bytes it is said to have unpacked.
    """
    made = bytearray(archive)
    for signature, flag_at, size_at, name_at in ((LOCAL, 6, 22, 30), (CENTRAL, 8, 24, 46)):
        at = made.index(name.encode(), made.index(signature))
        start = at - name_at
        if not made.startswith(signature, start):
            start = made.index(name.encode(), at + 1) - name_at
        assert made.startswith(signature, start)
        (had,) = struct.unpack_from("<H", made, start + flag_at)
        struct.pack_into("<H", made, start + flag_at, had | flags)
        if method is not None:
            struct.pack_into("<H", made, start + flag_at + 2, method)
        if size is not None:
            struct.pack_into("<I", made, start + size_at, size)
    return bytes(made)


def listed_often(archive: bytes, times: int) -> bytes:
    """An archive that lists its one file so many times."""
    start, end = archive.index(CENTRAL), archive.index(END)
    entry, tail = archive[start:end], bytearray(archive[end:])
    struct.pack_into("<HHII", tail, 8, times % 65_536, times % 65_536, len(entry) * times, start)
    return archive[:start] + entry * times + bytes(tail)
