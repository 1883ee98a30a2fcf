"""Evaluations over HTTP: the journals, scores and reports of a folder that the operator names, to be read alone.

The lines of journals are read as plain JSON: the harness that wrote them is not needed for that.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal
from urllib.parse import quote

from pydantic import Field
from pydantic_core import from_json
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from agent.contract.model import Page, Received
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import PageQuery, SearchQuery, WholeNumber, paging, queried
from server.state import server_state

PATH = "/api/v1/evaluations"

FILES: Final = 2_000
"""How many files of the folder are listed."""

LINE_BYTES: Final = 16_000_000
"""Bytes of one line of a journal that are read."""

EvaluationKind = Literal["journal", "scores", "lines", "report"]
"""What a file has: attempts, their scores, other lines of JSON, or a report."""

_REPORTS: Final = frozenset({".html", ".htm", ".md", ".json", ".csv", ".xml", ".txt", ".svg"})
_SHOWN: Final = frozenset(
    {"application/json", "text/csv", "text/markdown", "text/plain", "application/xml", "text/xml"}
)


class EvaluationFile(Received):
    """A file of an evaluation.

    Attributes:
        name: its path in the folder, with forward slashes.
        kind: what it has.
        bytes: its size.
        updated_at: when it was last written, ISO 8601 in UTC.
        url: where it is read.
    """

    name: str
    kind: EvaluationKind
    bytes: int
    updated_at: str
    url: str


class EvaluationPage(Page):
    """The files of evaluations, last written first."""

    evaluations: list[EvaluationFile]


class LineQuery(PageQuery):
    """Asks for a page of lines."""

    limit: WholeNumber = Field(default=20, ge=1, le=50)


class EvaluationLine(Received):
    """A line of a journal.

    Attributes:
        line: its number, from 1.
        entry: what it has; null if it cannot be read.
        error: why it cannot be read; null if it can.
    """

    line: int
    entry: dict[str, Any] | None
    error: str | None


class LinePage(Page):
    """The lines of a journal or of scores, in order."""

    evaluation: EvaluationFile
    entries: list[EvaluationLine]


class Evaluations(HTTPEndpoint):
    """All files of evaluations."""

    @operation(EvaluationPage, query=SearchQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, last written first: those in whose name `q` stands."""
        asked = queried(SearchQuery, request)
        every = await asyncio.to_thread(_files, server_state(request).settings.evaluations)
        found = [one for one in every if asked.q.casefold() in one.name.casefold()]
        page = found[asked.offset : asked.offset + asked.limit]
        return JsonResponse(EvaluationPage.model_validate({"evaluations": page, **paging(request, asked, len(found))}))


class OneEvaluation(HTTPEndpoint):
    """One file of an evaluation."""

    @operation(bytes, media_type="*/*", headers=("Content-Disposition",))
    async def get(self, request: Request) -> Response:
        """Its content, to be saved: a browser never shows it as a page of this server."""
        path, file = await asyncio.to_thread(_found, request)
        kind = mimetypes.guess_type(path.name)[0] or ""
        name = PurePosixPath(file.name).name
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        return FileResponse(path, media_type=kind if kind in _SHOWN else "application/octet-stream", headers=headers)


@operation(LinePage, query=LineQuery, errors=(409,))
async def entries(request: Request) -> Response:
    """One page of the lines of a journal or of scores, in order."""
    asked = queried(LineQuery, request)
    path, file = await asyncio.to_thread(_found, request)
    if file.kind == "report":
        fix = f"GET {PATH}/{{name}} reads it as it is."
        raise ApiError(409, "not_a_journal", "This is a report, which has no lines.", fix)
    try:
        found, total = await asyncio.to_thread(_page, path, asked.offset, asked.limit)
    except OSError:
        raise _missing(file.name) from None
    return JsonResponse(
        LinePage.model_validate({"evaluation": file, "entries": found, **paging(request, asked, total)})
    )


def _page(path: Path, offset: int, limit: int) -> tuple[list[EvaluationLine], int]:
    with path.open("rb") as file:
        before = sum(1 for _ in islice(_lines(file.readline), offset))
        page = [_line(number, line) for number, line in enumerate(islice(_lines(file.readline), limit), before + 1)]
        return page, before + len(page) + sum(1 for _ in _lines(file.readline))


def _lines(readline: Any) -> Iterator[bytes]:
    """Lines that are not empty; of one that is too long, the beginning."""
    while line := readline(LINE_BYTES):
        while not line.endswith(b"\n") and (more := readline(LINE_BYTES)):
            if more.endswith(b"\n"):
                break
        if line.strip():
            yield line


def _line(number: int, line: bytes) -> EvaluationLine:
    try:
        entry: object = from_json(line, allow_inf_nan=False)
    except ValueError:
        return EvaluationLine(line=number, entry=None, error="This line is not JSON, or it is too long.")
    if not isinstance(entry, dict):
        return EvaluationLine(line=number, entry=None, error="This line is not a JSON object.")
    return EvaluationLine.model_validate({"line": number, "entry": entry, "error": None})


def _files(folder: Path | None) -> list[EvaluationFile]:
    """The files of a folder, last written first; what begins with a dot, or leads out of it, is left out."""
    if folder is None or not folder.is_dir():
        return []
    listed = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in {".jsonl", *_REPORTS})
    found = [one for path in islice(listed, FILES) if (one := _file(folder, path)) is not None]
    return sorted(found, key=lambda one: one.updated_at, reverse=True)


def _file(folder: Path, path: Path) -> EvaluationFile | None:
    """What is said of a file; None for one that is not to be read."""
    inside = path.relative_to(folder)
    try:
        if any(part.startswith(".") for part in inside.parts) or not path.is_file():
            return None
        if not path.resolve().is_relative_to(folder.resolve()):
            return None
        known, name = path.stat(), inside.as_posix()
        written = datetime.fromtimestamp(known.st_mtime, UTC).isoformat(timespec="seconds")
        kind = _kind(path)
    except OSError:  # it was removed meanwhile
        return None
    url = f"{PATH}/{quote(name)}"
    return EvaluationFile(name=name, kind=kind, bytes=known.st_size, updated_at=written, url=url)


def _kind(path: Path) -> EvaluationKind:
    if path.suffix.lower() != ".jsonl":
        return "report"
    with path.open("rb") as file:
        first = next((_line(1, line) for line in _lines(file.readline)), None)
    keys = set[str]() if first is None or first.entry is None else set(first.entry)
    return "journal" if "turns" in keys else "scores" if "scores" in keys else "lines"


def _found(request: Request) -> tuple[Path, EvaluationFile]:
    """The file in the address: one that is listed.

    Raises:
        ApiError: 404, there is none.
    """
    folder, name = server_state(request).settings.evaluations, request.path_params["evaluation"]
    parts = PurePosixPath(name).parts
    if folder is not None and parts and not {"..", "/"} & set(parts) and "\0" not in name:
        path = folder.joinpath(*parts)
        file = _file(folder, path) if path.suffix.lower() in {".jsonl", *_REPORTS} else None
        if file is not None:
            return path, file
    raise _missing(name)


def _missing(name: str) -> ApiError:
    message = f"There is no evaluation {name[:200]!r}."
    return ApiError(404, "evaluation_not_found", message, f"GET {PATH} lists those of WIREWRIGHT_EVALUATIONS.")


routes = [
    Route(PATH, Evaluations),
    Route(f"{PATH}/{{evaluation:path}}/entries", entries, methods=["GET"]),
    Route(f"{PATH}/{{evaluation:path}}", OneEvaluation),
]
