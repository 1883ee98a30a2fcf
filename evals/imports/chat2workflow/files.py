"""Texts that stand in for the files of a test: a file's own where it is text, else one that can be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.imports.chat2workflow.format import BenchmarkCheck, FileValue
from evals.imports.chat2workflow.marks import made_mark

TABLES: Final = frozenset({"xlsx", "xls", "csv"})
TEXT_LIMIT: Final = 20_000
"""Characters of a text file that a stand-in keeps."""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A text in place of a file; `note` says so where it is not the file's own."""

    text: str
    note: str = ""


def file_kinds(checks: Iterable[BenchmarkCheck]) -> dict[str, str]:
    """The variables of a task that hold files in any of its rounds, with the ending of their stand-ins."""
    return {
        name: kind_of(value[0])
        for check in checks
        for case in check.cases
        for name, value in case.inputs.items()
        if not isinstance(value, str)
    }


def kind_of(file: FileValue) -> str:
    """The ending of the stand-in for a file."""
    ending = file.value.rpartition(".")[2].lower()
    return "csv" if ending in TABLES else "md" if ending == "md" else "txt"


def stand_in_for(file: FileValue, number: int, contents: Sequence[str], folder: Path | None) -> StandIn:
    """The text that stands in for a file.

    Args:
        number: which of a list of files it is, from 1.
        contents: what a round has in its files, over and over; empty where that does not matter.
        folder: the benchmark's files; None for none.
    """
    mark = made_mark("subject", file.value)
    if contents:
        return StandIn(text=contents[(number - 1) % len(contents)].replace("{mark}", mark))
    text = _own_text(file, folder)
    if text is not None:
        return StandIn(text=f"{text}\n\nReference: {mark}\n")
    note = f"{file.value} ({file.mime_type}) is replaced by a text that stands in for its content"
    if kind_of(file) == "csv":
        return StandIn(text=f"name,value\n{mark},1\nother,2\n", note=note)
    return StandIn(text=f"This text stands in for {file.value}. Its subject is {mark}.\n", note=note)


def _own_text(file: FileValue, folder: Path | None) -> str | None:
    if folder is None or not (folder / file.value).is_file():
        return None
    try:
        return (folder / file.value).read_text(encoding="utf-8")[:TEXT_LIMIT]
    except (OSError, UnicodeDecodeError):
        return None
