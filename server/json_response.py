"""JSON responses, and JSON as it is stored: compact, and valid whatever the document holds."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

SHOWN_ONCE: Final[Mapping[str, str]] = {"Cache-Control": "no-store"}
"""Headers of an answer with a token: nobody keeps it, neither a proxy nor what answers repeated requests."""


def json_bytes(document: object) -> bytes:
    """A model or plain values as JSON in UTF-8; NaN and infinity become null, lone surrogates become escapes."""
    try:
        return to_json(document, inf_nan_mode="null")
    except PydanticSerializationError:
        plain = document.model_dump() if isinstance(document, BaseModel) else document
        return json.dumps(plain, separators=(",", ":")).encode("ascii")


class JsonResponse(Response):
    """A response with a JSON document."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The document's bytes."""
        return json_bytes(content)
