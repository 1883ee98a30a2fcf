"""The inputs of a batch: a file with one on each line, all of which are read before anything runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from agent.contract.problems import reason
from cli.errors import BadUsage
from cli.input.texts import bad_text
from runtime.files.texts import TextRefused, read_text
from server.routes.jobs.batches import INPUTS, BatchInput

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


def too_many(inputs: Sequence[BatchInput], path: Path) -> None:
    """Refuse more inputs than a server takes at once.

    Raises:
        BadUsage: there are more.
    """
    if len(inputs) > INPUTS:
        message = f"A server takes at most {INPUTS:,} inputs in a batch; {path} has {len(inputs):,}."
        raise BadUsage("too_many_inputs", message, fix=f"Split it: split -l {INPUTS} {path}", where=WHERE)


def too_large(inputs: Sequence[BatchInput], path: Path, limit: int) -> BadUsage:
    """The error for inputs that are too large for one request to a server.

    Args:
        inputs: the inputs.
        path: their file.
        limit: the most bytes that a server takes unless it is set up otherwise.
    """
    size, fits = 0, 0
    for one in inputs:
        size += len(one.model_dump_json(exclude_none=True).encode("utf-8", "surrogatepass")) + 1
        fits += size <= limit
    message = f"The {len(inputs):,} inputs of {path} are {size:,} bytes, more than the server takes in one batch."
    fits = max(1, fits // 2 if fits == len(inputs) else fits)
    fix = f"Split it: split -l {fits} {path}"
    if fits == 1:
        fix = "Shorten its inputs, or ask the operator for a higher WIREWRIGHT_CHAT_BODY_LIMIT."
    return BadUsage("too_large", message, fix=fix, where=WHERE)
