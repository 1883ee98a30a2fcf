"""Encrypts what is stored with a key of this installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from runtime.files.atomic import write_atomically

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Unreadable(Exception):
    """What is stored cannot be decrypted, read or written."""


class Sealing:
    """Encrypts and decrypts text. Every method may raise `Unreadable`, and blocks for a moment.

    Args:
        key_file: the key, created when something is first encrypted.
    """

    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, text: str) -> str:
        """Encrypt a text."""
        try:
            if not self._key_file.exists():
                from cryptography.fernet import Fernet

                self._key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_atomically(self._key_file, Fernet.generate_key(), overwrite=False)
            return self._fernet().encrypt(text.encode()).decode()
        except (OSError, ValueError):
            raise Unreadable from None

    def unseal(self, sealed: str) -> str:
        """Decrypt what `seal` has encrypted."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet().decrypt(sealed).decode()
        except (OSError, ValueError, InvalidToken):
            raise Unreadable from None

    def _fernet(self) -> Fernet:
        from cryptography.fernet import Fernet

        return Fernet(self._key_file.read_bytes())


_VALUES: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])


def seal_values(sealing: Sealing, values: dict[str, str]) -> str:
    """Encrypt values by name."""
    return sealing.seal(json.dumps(values))


def unseal_values(sealing: Sealing, sealed: str) -> dict[str, str]:
    """Decrypt values by name."""
    try:
        return _VALUES.validate_json(sealing.unseal(sealed))
    except ValueError:
        raise Unreadable from None
