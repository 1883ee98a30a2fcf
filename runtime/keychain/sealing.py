"""Encrypts what is stored with the master key of this installation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from runtime.files.atomic import read_regular
from runtime.keychain.master_key import MasterKey, SecretKeyUnavailable, cipher_of

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Unreadable(Exception):
    """What is stored cannot be decrypted, read or written."""


class Sealing:
    """Encrypts and decrypts text. Every method may raise `Unreadable`, and blocks for a moment.

    Args:
        data: the data folder.
        earlier: key files of earlier versions in it, which only decrypt.
    """

    def __init__(self, data: Path, *earlier: str) -> None:
        self._master = MasterKey(data)
        self._earlier = [data / name for name in earlier]

    def seal(self, text: str) -> str:
        """Encrypt a text; the master key is made if there is none."""
        try:
            return self._master.fernet().encrypt(text.encode()).decode()
        except (OSError, ValueError, SecretKeyUnavailable) as failure:
            raise Unreadable from failure

    def unseal(self, sealed: str) -> str:
        """Decrypt what `seal` has encrypted."""
        from cryptography.fernet import InvalidToken

        try:
            for cipher in self._ciphers():
                try:
                    return cipher.decrypt(sealed).decode()
                except InvalidToken:
                    continue
        except (OSError, ValueError, SecretKeyUnavailable) as failure:
            raise Unreadable from failure
        raise Unreadable

    def is_current(self, sealed: str) -> bool:
        """Whether the key that `seal` encrypts with has encrypted this, and no earlier one."""
        from cryptography.fernet import InvalidToken

        try:
            for cipher in self._master.readers()[:1]:
                cipher.decrypt(sealed)
        except (InvalidToken, OSError, ValueError, SecretKeyUnavailable):
            return False
        return True

    def _ciphers(self) -> Iterator[Fernet]:
        yield from self._master.readers()
        for file in self._earlier:
            if file.exists():
                yield cipher_of(read_regular(file, 200).strip())


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
