"""The inputs of a batch: a file with one on each line, all of which are read before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from agent.contract.problems import reason
from cli.errors import BadUsage
from cli.input.texts import bad_text
from runtime.files.texts import TextRefused, read_text
from server.routes.jobs.batches import BatchInput

FILE_BYTES: Final = 64_000_000
"""How large a file of inputs may be."""

SHOWN: Final = 5
"""How many wrong lines are named."""

WHERE: Final = "--batch"


def read_inputs(path: Path) -> list[BatchInput]:
    """The inputs of a batch: of each line the text to type, as JSON, or an object with `input_value` and more.

    Args:
        path: the file, or a pipe, which can be read once.

    Raises:
        BadUsage: the file cannot be read, or lines of it are wrong, of which the first five are named.
    """
    try:
        lines = read_text(path, FILE_BYTES).split("\n")
    except TextRefused as refused:
        raise bad_text(str(path), refused, WHERE) from None
    found: list[BatchInput] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_input(line))
            except ValueError as refused:
                wrong.append(f"line {number}: {refused}")
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        count = "1 line" if len(wrong) == 1 else f"{len(wrong)} lines"
        message = f"{count} of {path} cannot be run: {'; '.join(wrong[:SHOWN])}{more}."
        fix = 'Write a JSON string, or an object such as {"input_value": "hi"}.'
        raise BadUsage("bad_input", message, fix=fix, where=WHERE)
    if not found:
        raise BadUsage("bad_input", f"{path} has no input.", fix="Write one on each line.", where=WHERE)
    return found


def _input(line: str) -> BatchInput:
    """One input.

    Raises:
        ValueError: the line is none; its message says why.
    """
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("this is not JSON") from None
    if not isinstance(value, str | dict):
        raise ValueError("this is neither a string nor an object")
    try:
        return BatchInput.model_validate({"input_value": value} if isinstance(value, str) else value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "".join(f"{step}: " for step in first["loc"][:1])
        raise ValueError(f"{place}{reason(first).removesuffix('.')}") from None
