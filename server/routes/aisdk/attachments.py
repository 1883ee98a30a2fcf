"""The files of a message: what a data URL carries becomes a file of the user's, and one of theirs is taken as it is."""

from __future__ import annotations

import asyncio
import binascii
import hashlib
import mimetypes
import re
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from agent.contract.events import FILES_PATH
from runtime.files.names import FileExists, FileMissing, FileRefused, segments
from runtime.files.store import UserFiles
from server.errors import ApiError
from server.requests.multipart import refusal

FILES_LIMIT: Final = 20
"""Files of one message."""

SAME_NAMES: Final = 100
"""How many files of one name a user may have."""

_DATA_URL: Final = re.compile(r"data:([a-zA-Z0-9!#$&^_.+-]{1,100}/[a-zA-Z0-9!#$&^_.+-]{1,100})?(?:;[^,;]{1,100}){0,5},")
_BASE64: Final = ";base64,"


@dataclass(frozen=True, kw_only=True)
class NewFile:
    """A file that a message carries.

    Attributes:
        name: what it is called.
        content: its bytes.
        place: where it stands in the request.
    """

    name: str
    content: bytes
    place: str


def read_files(parts: Sequence[tuple[str, dict[str, Any]]], host: str) -> list[NewFile | str]:
    """The files of a message: new ones, and the paths of those that the user has. Nothing is written.

    Args:
        parts: the parts of the message that are files, with their places in the request.
        host: the server's own host and port, as the request names it.

    Raises:
        ApiError: 422, a part is malformed, or its file is elsewhere.
    """
    if len(parts) > FILES_LIMIT:
        message = f"The message has more than {FILES_LIMIT} files."
        raise ApiError(422, "too_many_files", message, "Send fewer.", parts[FILES_LIMIT][0])
    return [_read(place, part, host) for place, part in parts]


async def keep(files: UserFiles, given: Sequence[NewFile | str]) -> tuple[list[str], list[str]]:
    """Write the new files of a message beside the user's others, none of which is replaced.

    Returns:
        The paths of all the message's files, and of those that did not exist before.

    Raises:
        ApiError: 409 or 413, the user's files are full or one is too large; 422, a name is refused.
    """
    paths, written = list[str](), list[str]()
    for one in given:
        if isinstance(one, str):
            paths.append(one)
            continue
        try:
            path, is_new = await asyncio.to_thread(_keep, files, one)
        except FileRefused as refused:
            await discard(files, written)
            error = refusal(refused)
            error.where = one.place
            raise error from None
        paths.append(path)
        written += [path] if is_new else []
    return list(dict.fromkeys(paths)), written


async def discard(files: UserFiles, paths: Sequence[str]) -> None:
    """Remove files that were written for a turn which did not begin."""
    for path in paths:
        try:
            await asyncio.to_thread(files.remove, path)
        except FileMissing:
            continue


def _read(place: str, part: dict[str, Any], host: str) -> NewFile | str:
    url = part.get("url")
    if not isinstance(url, str):
        raise ApiError(422, "invalid_request", "A file has no url.", "Send a data URL.", f"{place}.url")
    if url[:5].lower() == "data:":
        return _carried(place, part, url)
    own = urlsplit(url)
    path = unquote(own.path)
    if ((not own.netloc and not own.scheme) or own.netloc == host) and path.startswith(f"{FILES_PATH}/"):
        return path.removeprefix(f"{FILES_PATH}/")
    fix = f"Send a data URL, or the address of one of your files under {FILES_PATH}."
    raise ApiError(422, "url_refused", "Files are not fetched from other addresses.", fix, f"{place}.url")


def _carried(place: str, part: dict[str, Any], url: str) -> NewFile:
    head = _DATA_URL.match(f"data:{url[5:1000]}")
    fix = "Send data:TYPE;base64,CONTENT."
    if head is None or not head[0].lower().endswith(_BASE64):
        raise ApiError(422, "invalid_data_url", "This is not a data URL in base64.", fix, f"{place}.url")
    try:
        content = b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(422, "invalid_data_url", "The data URL is not valid base64.", fix, f"{place}.url") from None
    name = part.get("filename")
    named = re.split(r"[/\\]", name.strip())[-1].strip() if isinstance(name, str) else ""
    if not named or named in {".", ".."}:
        extension = mimetypes.guess_extension((head[1] or "").lower()) or ".bin"
        named = f"file-{hashlib.sha256(content).hexdigest()[:8]}{extension}"
    try:
        [named] = segments(named)
    except FileRefused as refused:
        raise ApiError(422, "file_refused", refused.message, "Choose another name.", f"{place}.filename") from None
    return NewFile(name=named, content=content, place=place)


def _keep(files: UserFiles, new: NewFile) -> tuple[str, bool]:
    """Write a file, unless the user has it already; one of its name with other content stays as it is."""
    stem, dot, extension = new.name.rpartition(".")
    stem, ending = (stem, f"{dot}{extension}") if stem else (new.name, "")
    for number in range(1, SAME_NAMES + 1):
        path = new.name if number == 1 else f"{stem}-{number}{ending}"
        try:
            if files.read_bytes(path) == new.content:
                return path, False
        except FileMissing:
            with suppress(FileExists), files.receive(path, overwrite=False) as upload:
                upload.write(new.content)
                return path, True
    raise FileRefused(f"There are more than {SAME_NAMES} files called {new.name}.")
