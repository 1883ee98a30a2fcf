"""What DBOS stores of workflows and steps: JSON, never pickled objects."""

from __future__ import annotations

import json
from typing import Any, Final

from dbos import Serializer

from flows.json_values import as_list, as_object

_ERROR: Final = "$error"


class RecordedError(RuntimeError):
    """A failure of a step or workflow that another process recorded."""


class JsonValues(Serializer):
    """Writes JSON, so that a version of the program that moves a class can read what an earlier one stored."""

    def serialize(self, data: Any) -> str:
        """The JSON of a value; an exception becomes its type and text."""
        if isinstance(data, BaseException):
            data = {_ERROR: [type(data).__name__, str(data)]}
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def deserialize(self, serialized_data: str) -> Any:
        """The value of a JSON text."""
        value: Any = json.loads(serialized_data)
        error = as_object(value).get(_ERROR)
        return value if error is None else RecordedError(": ".join(map(str, as_list(error))))

    def name(self) -> str:
        """The name that DBOS stores beside each value."""
        return "wirewright_json"
