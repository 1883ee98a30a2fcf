"""Finds a flow that a model wrote into its answer instead of building it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from flows.catalogue import Catalogue
from flows.document import Flow, FlowFormatError
from flows.spec import build
from tools.replies import errors
from tools.workbench import Workbench

_FENCE = re.compile(r"```[\w-]*\s*\n(?P<body>.*?)(?:\n\s*```|\Z)", re.DOTALL)
_START = re.compile(r"\{\s*\"")


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """A flow found in an answer.

    Attributes:
        flow: the flow; it has no errors.
        text: the prose around it.
    """

    flow: Flow
    text: str


def recover(text: str, bench: Workbench) -> Recovered | None:
    """Return the first flow without errors that an answer spells out as JSON or spec text, or None.

    Args:
        text: the answer.
        bench: checks flows.
    """
    if "nodes" not in text:
        return None
    for start, end, written in _pieces(text):
        flow = _flow(written, bench.catalogue)
        if flow is not None and not flow.is_empty and not errors(bench.check(flow)):
            return Recovered(flow=flow, text=_without(text, start, end))
    return None


def _without(text: str, start: int, end: int) -> str:
    return f"{text[:start].rstrip()}\n{text[end:].lstrip()}".strip()


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """The parts of an answer that may hold a flow: its fenced blocks, or else its JSON objects."""
    fenced = [(found.start(), found.end(), found.group("body")) for found in _FENCE.finditer(text)]
    if fenced:
        yield from fenced
        return
    decoder, at = json.JSONDecoder(), 0
    while (found := _START.search(text, at)) is not None:
        try:
            _, end = decoder.raw_decode(text, found.start())
        except ValueError:
            at = found.start() + 1
            continue
        yield found.start(), end, text[found.start() : end]
        at = end


def _flow(written: str, catalogue: Catalogue) -> Flow | None:
    document = _document(written)
    if document is not None:
        try:
            return Flow.from_json(document)
        except FlowFormatError:
            return None
    return build(written, catalogue).flow if _is_spec(written) else None


def _document(written: str) -> dict[str, object] | None:
    try:
        parsed: object = json.loads(written)
    except ValueError:
        return None
    if not isinstance(parsed, dict):
        return None
    document = cast("dict[str, object]", parsed)
    inner = document.get("data")
    holder = cast("dict[str, object]", inner) if isinstance(inner, dict) else document
    return document if isinstance(holder.get("nodes"), list) and isinstance(holder.get("edges"), list) else None


def _is_spec(written: str) -> bool:
    return re.search(r"^nodes:\s*$", written, re.MULTILINE) is not None and "{" not in written[:1]
