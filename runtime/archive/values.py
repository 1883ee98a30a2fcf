"""Values of rows as JSON, whatever database they come from."""

from __future__ import annotations

import base64
from datetime import date, datetime
from typing import Any

from flows.document import Json


def to_json(value: Any) -> Json:
    """A value of a column as JSON that `from_json` reads."""
    match value:
        case bytes():
            return {"bytes": base64.b64encode(value).decode("ascii")}
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case dict() | list():
            return {"json": value}
        case _:
            return value


def from_json(value: Json) -> Any:
    """The value of a column that `to_json` wrote."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    match kind:
        case "bytes":
            return base64.b64decode(str(content))
        case "datetime":
            return datetime.fromisoformat(str(content))
        case "date":
            return date.fromisoformat(str(content))
        case _:
            return content
