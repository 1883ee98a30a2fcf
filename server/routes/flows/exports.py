"""What Langflow exports: the flows of one file, and those of the zip archive of a project or of several flows.

Langflow writes a file for each flow, called as the flow, with whatever stands in its name: `/` and `..` too, and one
name twice. Nothing is written where a name says, and a name is only shown. Newer versions add `project.json`.
"""

from __future__ import annotations

import codecs
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, cast

from pydantic_core import from_json

from flows.document import Flow, Json, JsonObject
from server.errors import ApiError
from server.requests.body import flow_of
from server.routes.flows.models import SkippedFlow

ARCHIVES: Final = ("application/zip", "application/x-zip-compressed")
"""The types of a zip archive: the registered one, and that of Langflow's downloads and of Windows."""

IMPORT_FLOWS: Final = 200
"""Flows of one import."""

ARCHIVE_FILES: Final = 10_000
"""Files of an archive, those that are no exports among them."""

SHOWN: Final = 200
"""Characters of the name of a file."""

_ENTRY: Final = b"PK\x01\x02"
_ENCRYPTED: Final = 0x1
_MAC_FOLDER: Final = "__MACOSX"
_PROJECT: Final = "project.json"
_FLOW_KEYS: Final = frozenset({"data", "nodes", "flows"})
_DAMAGED: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(RuntimeError, NotImplementedError, EOFError, OSError, ValueError),
)
"""What reading an archive raises when it is damaged, or written in a way that is not known here."""


@dataclass
class Export:
    """What was read.

    Attributes:
        flows: the flows, in the order of the file.
        skipped: what an archive has that is no flow.
    """

    flows: list[Flow] = field(default_factory=list[Flow])
    skipped: list[SkippedFlow] = field(default_factory=list[SkippedFlow])


def read_export(body: bytes, nodes: int) -> Export:
    """Read a JSON document with one flow or several.

    Args:
        body: the document.
        nodes: how many components a flow may have.

    Raises:
        ApiError: one of them is no flow, or there are too many, or none.
    """
    found = list(_in_document(_parsed(body, "$"), "$"))
    _check_count(len(found))
    return Export([flow_of(document, place, nodes) for place, document in found])


def read_archive(body: bytes, limit: int, nodes: int) -> Export:
    """Read a zip archive whose files each have one flow or several.

    Args:
        body: the archive.
        limit: how many bytes its files may have unpacked.
        nodes: how many components a flow may have.

    Raises:
        ApiError: it is no archive, it is too large, or nothing in it is a flow; then it is about the first file.
    """
    export, refusals = Export(), list[ApiError]()
    for place, document in _in_archive(body, limit):
        try:
            export.flows.append(flow_of(_given(document), place, nodes))
        except ApiError as refusal:
            refusals.append(refusal)
            export.skipped.append(
                SkippedFlow(where=refusal.where or place, code=refusal.code, message=refusal.message, fix=refusal.fix)
            )
    if refusals and not export.flows:
        raise refusals[0]
    _check_count(len(export.flows) + len(export.skipped))
    return export


def _check_count(found: int) -> None:
    if not 0 < found <= IMPORT_FLOWS:
        fix = f"Send 1 to {IMPORT_FLOWS} flows."
        raise ApiError(422, "invalid_request", f"There are {found} flows in this import.", fix, "$")


def _given(document: Json | ApiError) -> Json:
    if isinstance(document, ApiError):
        raise document
    return document


def _in_archive(body: bytes, limit: int) -> Iterator[tuple[str, Json | ApiError]]:
    """The flows of an archive with their places, and in place of a file that cannot be read, why."""
    if body.count(_ENTRY) > ARCHIVE_FILES:
        raise _too_large(limit)
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except _DAMAGED:
        fix = "Send the archive that Langflow's project export gives."
        raise ApiError(400, "not_an_archive", "The body is not a zip archive that can be read.", fix, "$") from None
    with archive:
        files = [entry for entry in archive.infolist() if _is_export(entry.filename)]
        if len(files) > IMPORT_FLOWS or sum(entry.file_size for entry in files) > limit:
            raise _too_large(limit)
        for entry in files:
            place = entry.filename[:SHOWN]
            try:
                document = _parsed(_unpacked(archive, entry, place, limit), place)
            except ApiError as refusal:
                yield place, refusal
                continue
            about_project = PurePosixPath(place).name.lower() == _PROJECT and isinstance(document, dict)
            if not (about_project and _FLOW_KEYS.isdisjoint(cast("JsonObject", document))):
                yield from _in_document(document, place)


def _is_export(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() == ".json" and _MAC_FOLDER not in path.parts


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str, limit: int) -> bytes:
    if entry.flag_bits & _ENCRYPTED:
        fix = "Send the archive without a password."
        raise ApiError(400, "encrypted", f"{place} is encrypted.", fix, place)
    try:
        with archive.open(entry) as file:
            return file.read(limit + 1)
    except _DAMAGED:
        raise ApiError(400, "damaged", f"{place} cannot be unpacked.", "Export it again.", place) from None


def _too_large(limit: int) -> ApiError:
    fix = f"Send at most {IMPORT_FLOWS} flows, and {limit:,} bytes unpacked."
    return ApiError(413, "too_large", "The archive is too large.", fix)


def _in_document(document: Json, place: str) -> Iterator[tuple[str, Json]]:
    """The flows in a document: itself, those of a list, or those under `flows`."""
    several = document.get("flows") if isinstance(document, dict) else document
    if isinstance(several, list):
        prefix = f"{place}.flows" if isinstance(document, dict) else place
        yield from ((f"{prefix}[{index}]", flow) for index, flow in enumerate(several))
    else:
        yield place, document


def _parsed(body: bytes, place: str) -> Json:
    try:
        return cast("Json | JsonObject", from_json(body.removeprefix(codecs.BOM_UTF8), allow_inf_nan=False))
    except ValueError:
        raise ApiError(400, "not_json", "This is not JSON.", "Send exports in UTF-8.", place) from None
