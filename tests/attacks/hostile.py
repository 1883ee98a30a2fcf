"""Hostile requests as rows of `requests.yaml`: their bytes, what they are sent with, and what is planted for them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from tests.shared.yaml_files import read_yaml

ROWS = Path(__file__).with_name("requests.yaml")
SECONDS = 60.0
"""After which a request counts as never answered; good ones take milliseconds."""

SECRETS: Mapping[str, str] = {
    "environment": "sk-proj-PLANTEDenvironment0123456789abcdefgh",
    "provider": "gsk_PLANTEDprovider0123456789abcdefghijklmnop",
    "variable": "PLANTEDvariable0123456789abcdefghijklmnop",
    "outside": "PLANTEDoutside0123456789abcdefghijklmnop",
    "message": "sk-ant-api03-PLANTEDmessage0123456789abcdefghijklm",
}
"""What must not come out of the server, by where it is kept."""

_TABLES = (
    *("flows", "flow_revisions", "flow_sessions", "messages", "runs", "users", "secrets"),
    *("jobs", "batches", "schedules", "langflow_links", "mcp_calls", "mcp_baselines"),
)
_TIMES = re.compile(r"<<(.+?)\*(\d+)>>", re.DOTALL)
_BOUNDARY = "cut"


@cache
def rows() -> Sequence[dict[str, Any]]:
    """The rows of the table."""
    return read_yaml(ROWS)


def tried() -> int:
    """How many hostile requests the table holds, for the manual."""
    return len(rows())


@dataclass(frozen=True)
class Answer:
    """What came back for a request.

    Attributes:
        status: of the last answer of the connection; 0 when it was closed without one.
        text: everything that came, heads included, a character a byte.
    """

    status: int
    text: str

    @property
    def body(self) -> str:
        """The last answer's body."""
        return self.text.rpartition("\r\n\r\n")[2]


def request_bytes(row: Mapping[str, Any], names: Mapping[str, str]) -> bytes:
    """The bytes that a row sends.

    Args:
        row: the row; `$name` stands for a name's value, and `<<text*3>>` for a text three times.
        names: what its names stand for.
    """
    if "raw" in row:
        return _filled(row["raw"], names).replace("\n", "\r\n").encode("latin-1")
    method, _, target = _filled(row["ask"], names).partition(" ")
    body = _body(row, names)
    heads = [("Host", names["host"]), ("Connection", "close"), *_access(row.get("as", "token"), names)]
    given = [_pair(one) for one in row.get("head", [])]
    if body is not None and not any(name.lower() == "transfer-encoding" for name, _ in given):
        heads.append(("Content-Length", str(len(body))))
    if "json" in row or "text" in row:
        heads.append(("Content-Type", "application/json"))
    if "form" in row:
        heads.append(("Content-Type", f"multipart/form-data; boundary={_BOUNDARY}"))
    replaced = {name.lower() for name, _ in given}
    every = [pair for pair in heads if pair[0].lower() not in replaced] + given
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {_filled(value, names)}" for name, value in every)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


async def sent(port: int, data: bytes) -> Answer:
    """Send bytes, and read what comes until the server closes the connection.

    Raises:
        TimeoutError: it neither answered nor closed the connection in time.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            sending = asyncio.ensure_future(_send(writer, data))
            came = await _received(reader)
            await sending
    finally:
        writer.close()
    text = came.decode("latin-1")
    found = re.findall(r"^HTTP/1\.1 (\d{3})", text, re.MULTILINE)
    return Answer(int(found[-1]) if found else 0, text)


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    try:
        writer.write(data)
        await writer.drain()
    except ConnectionError:
        return  # the server had enough, and what it answered is what counts


async def _received(reader: asyncio.StreamReader) -> bytes:
    came = bytearray()
    try:
        while piece := await reader.read(65_536):
            came += piece
    except ConnectionError:
        return bytes(came)
    return bytes(came)


def _body(row: Mapping[str, Any], names: Mapping[str, str]) -> bytes | None:
    if "json" in row:
        return _filled(json.dumps(row["json"]), names).encode()
    if "text" in row:
        return _filled(row["text"], names).encode("latin-1" if row.get("bytes") else "utf-8")
    if "form" in row:
        return _filled(row["form"], names).replace("\n", "\r\n").encode("latin-1")
    return None


def _access(who: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The headers with which a client shows who it is."""
    match who:
        case "token":
            return [("Authorization", f"Bearer {names['token']}")]
        case "browser":
            return [("Cookie", names["cookie"]), ("Origin", f"http://{names['host']}")]
        case "cookie":
            return [("Cookie", names["cookie"])]
        case _:
            return []


def _pair(header: str) -> tuple[str, str]:
    name, _, value = header.partition(": ")
    return name, value


def _filled(text: str, names: Mapping[str, str]) -> str:
    filled = Template(text).safe_substitute(names)
    return _TIMES.sub(lambda found: found[1] * int(found[2]), filled)


def fingerprint(data: Path) -> Mapping[str, str]:
    """What a data folder holds: its files and the rows of its database, without conversations.

    Args:
        data: the folder.
    """
    held = {
        str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(data.rglob("*"))
        if path.is_file() and ".db" not in path.name and path.suffix != ".lock"
    }
    with closing(sqlite3.connect(f"file:{data / 'wirewright.db'}?mode=ro", uri=True)) as database:
        for table in _TABLES:
            held[table] = str(database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall())  # noqa: S608  (a name from above)
    return held
