"""Converts what components return to JSON: the text of messages, the rows of tables, the contents of data."""

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Any

from lfx.schema.data import Data
from lfx.schema.message import Message
from pandas import DataFrame, Series
from pydantic import BaseModel

MAX_DEPTH = 24


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as JSON: None, bool, number, text, list or object; anything else becomes the name of its type.

    The contents of such objects (tools, models, functions) are never printed, because they may hold keys.
    """
    if depth > MAX_DEPTH:
        return None
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Message():
            return value.text if isinstance(value.text, str) else ""
        case Data():
            return plain(value.data, depth + 1)
        case DataFrame():
            return [plain(row, depth + 1) for row in value.to_dict(orient="records")]
        case Series():
            return [plain(item, depth + 1) for item in value.tolist()]
        case Mapping():
            return {str(key): plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item, depth + 1) for item in value]
        case _:
            return _other(value, depth)


def kind_of(value: Any) -> str:
    """The type of a value, named as component types name their ports where they do.

    `Message`, `Data` and `DataFrame` are lfx's; `Text`, `Number`, `Boolean`, `List`, `Object` and `None` are plain
    values; anything else has the name of its class.
    """
    match value:
        case None:
            return "None"
        case bool():
            return "Boolean"
        case int() | float():
            return "Number"
        case str():
            return "Text"
        case Message():
            return "Message"
        case Data():
            return "Data"
        case DataFrame():
            return "DataFrame"
        case Mapping():
            return "Object"
        case list() | tuple() | set() | frozenset():
            kinds = {kind_of(item) for item in value}
            return f"List[{kinds.pop()}]" if len(kinds) == 1 else "List"
        case _:
            return type(value).__name__


def _other(value: Any, depth: int) -> Any:
    match value:
        case bytes():
            return value.decode("utf-8", errors="replace")
        case datetime() | date() | time():
            return value.isoformat()
        case PurePath():
            return value.name
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        return plain(value.item(), depth + 1)
    if hasattr(value, "page_content"):
        return {"text": value.page_content, **plain(getattr(value, "metadata", {}), depth + 1)}
    if isinstance(value, BaseModel) and type(value).__module__.startswith(("lfx.schema", "lfx.inputs")):
        return plain(value.model_dump(), depth + 1)
    name = getattr(value, "name", None)
    return {"type": type(value).__name__, "name": name} if isinstance(name, str) else {"type": type(value).__name__}
