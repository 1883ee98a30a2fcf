"""What is kept of a run's result beside its output: bounded, and without the keys in it."""

from __future__ import annotations

import json
from typing import Final

from flows.document import Json, JsonObject
from flows.fields.keys import json_without_keys
from runtime.results import RunResult

LIMIT: Final = 200_000
"""Characters of a result that are kept, as JSON."""

_TEXT: Final = 2_000
_ITEMS: Final = 50
"""Characters of a text, and entries of a list or an object, in a result that is longer than that."""


def kept_values(result: RunResult) -> str:
    """A run's result as JSON, in the shape of `RunResult.to_json`, with `cut` for whether parts are missing.

    Args:
        result: what came of the run.
    """
    found: JsonObject = {name: value for name, value in result.to_json().items() if name != "faults"}
    cut = len(_text(found)) > LIMIT
    if cut:
        found = _object(_shortened(found, 2))  # a key at the end of what is kept is found whole
    clean = _object(json_without_keys(found))
    if cut:
        clean = _object(_shortened(clean, 1))
    text = _text({**clean, "cut": cut})
    if len(text) <= LIMIT:
        return text
    empty: JsonObject = {name: {} for name in ("outputs", "nodes", "types", "usage")}
    return _text({**clean, **empty, "cut": True})


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: JsonObject) -> str:
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    return written.replace("\0", "").encode("utf-8", "replace").decode()


def _shortened(value: Json, times: int) -> Json:
    limit = _TEXT * times
    match value:
        case str():
            return value if len(value) <= limit else f"{value[:limit]}…"
        case list():
            return [_shortened(item, times) for item in value[:_ITEMS]]
        case dict():
            return {name[:limit]: _shortened(item, times) for name, item in list(value.items())[:_ITEMS]}
        case _:
            return value
