"""JSON as it goes over the wire and into the store: compact, and readable by every JSON parser whatever it holds."""

import json
from collections.abc import Set
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response


def json_bytes(document: object, exclude: Set[str] = frozenset()) -> bytes:
    """A JSON document as UTF-8; a number that JSON lacks becomes null, half of a surrogate pair an escape.

    Args:
        document: plain values, or a model.
        exclude: fields of the model that are left out.
    """
    try:
        return to_json(document, inf_nan_mode="null", exclude=set(exclude))
    except PydanticSerializationError:
        plain = document.model_dump(exclude=set(exclude)) if isinstance(document, BaseModel) else document
        return json.dumps(plain, separators=(",", ":")).encode("ascii")


class JsonReply(Response):
    """A reply that holds one JSON document."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The document's bytes."""
        return json_bytes(content)
