"""Values of rows without their encryption, which another installation could not read, and with it again."""

from __future__ import annotations

import json
from typing import Any, cast

from flows.document import Json, JsonObject
from runtime.archive.values import from_json, to_json
from runtime.keychain.documents import MARK, PREFIX, DocumentSealing
from runtime.keychain.master_key import SecretKeyUnavailable

SEALED = "sealed"
"""Stands for a text that was encrypted as a whole."""
_DOCUMENT = "document"
KEYS = "keys"
"""Stands for a document in which keys were encrypted."""


def opened(column: str, value: Any, documents: DocumentSealing, *, secrets: bool) -> Json:
    """A value of a column as JSON, decrypted.

    Args:
        column: the name of the column.
        value: the value.
        documents: decrypts it.
        secrets: whether keys in documents are kept; otherwise nothing stands where they were.

    Raises:
        SecretKeyUnavailable: it was encrypted with another key.
    """
    if not isinstance(value, str):
        return to_json(value)
    if value.startswith(PREFIX):
        text = documents.unseal_text(value)
        return {SEALED: text if secrets else _without_keys(text)}
    if f'"{MARK}"' in value:
        try:
            with_keys = cast("JsonObject", documents.unseal_keys(json.loads(value)))
        except (ValueError, SecretKeyUnavailable):
            if column == _DOCUMENT:
                raise
            return value  # a text of a user that looks so
        return {KEYS: with_keys if secrets else documents.without_keys(with_keys)}
    return value


def closed(value: Json, documents: DocumentSealing) -> Any:
    """The value of a column that `opened` gave, encrypted with the key of this installation."""
    if isinstance(value, dict) and SEALED in value:
        return documents.seal_text(str(value[SEALED]))
    if isinstance(value, dict) and KEYS in value:
        sealed = documents.seal_keys(cast("JsonObject", value[KEYS]))
        return json.dumps(sealed, separators=(",", ":"), ensure_ascii=True)
    return from_json(value)


def _without_keys(text: str) -> str:
    try:
        document: Json = json.loads(text)
    except ValueError:
        return ""  # nobody knows what is in it
    if not isinstance(document, dict):
        return ""
    return json.dumps(DocumentSealing.without_keys(document), separators=(",", ":"), ensure_ascii=False)
