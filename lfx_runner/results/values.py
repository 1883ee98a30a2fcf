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

from lfx_runner.protocol import MAX_RESULT

MAX_DEPTH = 24
MAX_NAME = 1_000
"""Characters of the name of a class, or of an object that is not JSON."""
MAX_ITEMS = 1_000_000
"""How many values are converted for one run: a list may hold itself, or never end."""


class ResultTooLarge(Exception):
    """The values that a run returns are too many."""


class Converter:
    """Converts the values of one run."""

    def __init__(self) -> None:
        self._items_left = MAX_ITEMS
        self._characters_left = MAX_RESULT

    def _count(self, characters: int = 0) -> None:
        self._items_left -= 1
        self._characters_left -= characters
        if self._items_left < 0:
            raise ResultTooLarge(f"The results have more than {MAX_ITEMS:,} values.")
        if self._characters_left < 0:
            raise ResultTooLarge(f"The results take more than {MAX_RESULT // 1024**2} MB, which is the limit.")

    def plain(self, value: Any, depth: int = 0) -> Any:
        """`value` as JSON: None, bool, number, text, list or object; anything else becomes the name of its type.

        The contents of such objects (tools, models, functions) are never printed, because they may hold keys.

        Raises:
            ResultTooLarge: it is too large to be returned.
        """
        self._count()
        if depth > MAX_DEPTH:
            return None
        plain = self.plain
        match value:
            case None | bool() | int():
                return value
            case str():
                self._count(len(value))
                return value
            case float():
                return value if math.isfinite(value) else None
            case Message():
                return plain(value.text, depth) if isinstance(value.text, str) else ""
            case Data():
                return plain(value.data, depth + 1)
            case DataFrame():
                return [plain(row, depth + 1) for row in value.to_dict(orient="records")]
            case Series():
                return [plain(item, depth + 1) for item in value.tolist()]
            case Mapping():
                return {self._key(key): plain(item, depth + 1) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [plain(item, depth + 1) for item in value]
            case _:
                return self._other(value, depth)

    def _key(self, key: Any) -> str:
        text = str(key)
        self._count(len(text))
        return text

    def _other(self, value: Any, depth: int) -> Any:
        match value:
            case bytes():
                return self.plain(value.decode("utf-8", errors="replace"), depth)
            case datetime() | date() | time():
                return value.isoformat()
            case PurePath():
                return value.name
        if hasattr(value, "item") and type(value).__module__ == "numpy":
            return self.plain(value.item(), depth + 1)
        if hasattr(value, "page_content"):
            return {"text": value.page_content, **self.plain(getattr(value, "metadata", {}), depth + 1)}
        if isinstance(value, BaseModel) and type(value).__module__.startswith(("lfx.schema", "lfx.inputs")):
            return self.plain(value.model_dump(), depth + 1)
        name = getattr(value, "name", None)
        shown = {"type": type(value).__name__[:MAX_NAME]}
        return {**shown, "name": name[:MAX_NAME]} if isinstance(name, str) else shown

    def kind_of(self, value: Any, depth: int = 0) -> str:
        """The type of a value, named as component types name their ports where they do.

        `Message`, `Data` and `DataFrame` are lfx's; `Text`, `Number`, `Boolean`, `List`, `Object` and `None` are plain
        values; anything else has the name of its class.

        Raises:
            ResultTooLarge: there are too many values in it.
        """
        self._count()
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
                kinds = {self.kind_of(item, depth + 1) for item in value} if depth < MAX_DEPTH else set[str]()
                return f"List[{kinds.pop()}]" if len(kinds) == 1 else "List"
            case _:
                return type(value).__name__[:MAX_NAME]
