"""Documents at rest: keys in them are encrypted, or a document as a whole; the rest stays readable without the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

from flows.document import Json, JsonObject
from flows.fields.secrets import is_secret, is_secret_name, looks_secret, shown_value
from flows.json_values import as_text
from runtime.keychain.master_key import FILE, VARIABLE, SecretKeyUnavailable
from runtime.keychain.sealing import Sealing, Unreadable

MARK: Final = "$sealed"
"""The only key of an object that stands for an encrypted value."""
PREFIX: Final = "sealed:"
"""What a document that is encrypted as a whole begins with; no JSON does."""


class DocumentSealing:
    """Encrypts keys in documents, or whole documents. Blocks for a moment.

    Every method may raise `SecretKeyUnavailable`: the master key is missing or another one.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        self._sealing = Sealing(data)

    def seal_keys(self, document: JsonObject) -> JsonObject:
        """The document with its keys encrypted: values of secret fields, and texts that look like a key.

        Args:
            document: such as a flow.
        """
        return cast("JsonObject", _sealed(document, self._seal_value, secret=False))

    def unseal_keys(self, document: Json) -> Json:
        """The document that was given to `seal_keys`; one without encrypted keys as it is."""
        if isinstance(document, list):
            return [self.unseal_keys(item) for item in document]
        if not isinstance(document, dict):
            return document
        if document.keys() == {MARK}:
            return json.loads(self._open(as_text(document[MARK])))
        return {key: self.unseal_keys(item) for key, item in document.items()}

    @staticmethod
    def without_keys(document: JsonObject) -> JsonObject:
        """The document with nothing where `seal_keys` would encrypt.

        Args:
            document: its encrypted keys were decrypted.
        """
        return cast("JsonObject", _sealed(document, lambda _: "", secret=False))

    def seal_text(self, text: str) -> str:
        """A document as a whole, encrypted."""
        return f"{PREFIX}{self._close(text)}"

    def unseal_text(self, text: str) -> str:
        """The document that was given to `seal_text`; one that is not encrypted as it is."""
        return self._open(text.removeprefix(PREFIX)) if text.startswith(PREFIX) else text

    def is_current(self, text: str) -> bool:
        """Whether the key that `seal_text` encrypts with is the one that a document was encrypted with."""
        return self._sealing.is_current(text.removeprefix(PREFIX))

    def _seal_value(self, value: Json) -> Json:
        return {MARK: self._close(json.dumps(value))}

    def _close(self, text: str) -> str:
        try:
            return self._sealing.seal(text)
        except Unreadable as failure:
            raise _unavailable(failure) from None

    def _open(self, sealed: str) -> str:
        try:
            return self._sealing.unseal(sealed)
        except Unreadable as failure:
            raise _unavailable(failure) from None


def _sealed(value: Json, seal: Callable[[Json], Json], *, secret: bool) -> Json:
    """A value with its keys encrypted.

    Args:
        value: the value.
        seal: encrypts a value.
        secret: whether the value has the name of a key.
    """
    match value:
        case str():
            return seal(value) if value and (secret or looks_secret(value)) else value
        case list():
            return [_sealed(item, seal, secret=secret) for item in value]
        case dict() if MARK in value:
            return seal(value)
        case dict():
            hidden = is_secret_name(as_text(value.get("key")))
            field = "value" in value and is_secret(value)
            whole = field and shown_value(value) != value["value"]
            return {
                key: seal(item)
                if key == "value" and whole
                else _sealed(item, seal, secret=_is_hidden(key, item, secret=secret, row=hidden, field=field))
                for key, item in value.items()
            }
        case bool() | None:
            return value
        case int() | float():
            return seal(value) if secret else value


def _is_hidden(key: str, item: Json, *, secret: bool, row: bool, field: bool) -> bool:
    """Whether what stands under a key of an object has the name of a key."""
    if isinstance(item, dict) and ("type" in item or "_input_type" in item):
        return False  # the description of a field, which says itself whether its value is secret
    return secret or (is_secret_name(key) and not field) or (row and key == "value")


def _unavailable(failure: Unreadable) -> SecretKeyUnavailable:
    if isinstance(failure.__cause__, SecretKeyUnavailable):
        return failure.__cause__
    return SecretKeyUnavailable(
        "What is stored here was encrypted with another secret key.",
        f"Restore that key: {VARIABLE}, the keyring's entry, or {FILE} in the data folder. Nothing was changed.",
    )
