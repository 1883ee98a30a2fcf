"""The master key, which encrypts what is secret at rest: from the environment, the system's keyring, or a file."""

from __future__ import annotations

import base64
import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from runtime.database.errors import StoreUnavailable
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.lock import FileLock
from runtime.files.private import private_data_folder

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

Source: TypeAlias = Literal["environment", "keyring", "file"]

VARIABLE: Final = "WIREWRIGHT_SECRET_KEY"
STORE_VARIABLE: Final = "WIREWRIGHT_SECRET_STORE"
FILE: Final = "secret.key"
CHECK_FILE: Final = "secret.check"
"""Encrypted with the key in use, so that another key is noticed before anything is encrypted with it."""
SHORTEST: Final = 32
"""Characters of the shortest key from the environment."""
KEYRING_SERVICE: Final = "wirewright"
KEYRING_NAME: Final = "secret-key"
LOCK_SECONDS: Final = 10.0

_CHECK: Final = b"wirewright"
_INFO: Final = b"wirewright secret key"
_KEY_LIMIT: Final = 200


class SecretKeyUnavailable(StoreUnavailable):
    """The master key is missing, is another one, or cannot be read; nothing was changed."""


def source() -> Source:
    """Where the master key comes from.

    Raises:
        SecretKeyUnavailable: the setting names no store.
    """
    if os.environ.get(VARIABLE):
        return "environment"
    chosen = os.environ.get(STORE_VARIABLE, "").strip().lower()
    if chosen == "keyring":
        return "keyring"
    if chosen in ("", "file"):
        return "file"
    raise SecretKeyUnavailable(f"{STORE_VARIABLE} names no store of secrets.", "Set it to `file` or `keyring`.")


@dataclass(frozen=True)
class MasterKey:
    """The master key of one installation. Its methods block for a moment.

    Args:
        data: the data folder.
    """

    data: Path

    def fernet(self) -> Fernet:
        """The cipher to encrypt with; the key is made when there is none yet.

        Raises:
            SecretKeyUnavailable: there is none, or what is stored was encrypted with another one.
        """
        found = self._found()
        check = self.data / CHECK_FILE
        if found is None:
            if check.exists():  # written after the key: whoever made both at this moment has left the key there
                found = self._found()
                if found is None:
                    raise _another()
            else:
                found = self._made()
        cipher = cipher_of(found)
        self._confirm(cipher, check)
        return cipher

    def readers(self) -> list[Fernet]:
        """The ciphers to decrypt with: the current key's, and that of the file, if the key came from there before.

        Raises:
            SecretKeyUnavailable: the key cannot be read.
        """
        found = [self._found(), self._in_file()]
        return [cipher_of(key) for key in dict.fromkeys(found) if key is not None]

    def _confirm(self, cipher: Fernet, check: Path) -> None:
        """Compare the key with the one in use; a key that replaces that of the file becomes the one in use."""
        try:
            if check.exists():
                stored = check.read_bytes()
                if _opens(cipher, stored):
                    return
                before = self._in_file()
                if before is None or not _opens(cipher_of(before), stored):
                    raise _another()
            private_data_folder(self.data)
            write_atomically(check, cipher.encrypt(_CHECK))
        except OSError:
            raise _unwritable() from None

    def _found(self) -> bytes | None:
        match source():
            case "environment":
                return _derived(os.environ[VARIABLE])
            case "keyring":
                return _in_keyring()
            case "file":
                return self._in_file()

    def _made(self) -> bytes:
        from cryptography.fernet import Fernet

        try:
            private_data_folder(self.data)
            if source() != "keyring":
                write_atomically(self.data / FILE, Fernet.generate_key(), overwrite=False)
            else:
                self._make_in_keyring(Fernet.generate_key())
        except OSError:
            raise _unwritable() from None
        found = self._found()
        if found is None:
            raise SecretKeyUnavailable("The system's keyring does not keep keys.", _OTHER_STORE)
        return found

    def _make_in_keyring(self, key: bytes) -> None:
        lock, deadline = FileLock(self.data / "secret.lock"), time.monotonic() + LOCK_SECONDS
        while not lock.try_acquire():
            if time.monotonic() > deadline:
                raise SecretKeyUnavailable("The secret key is being made by another process.", "Try again.")
            time.sleep(0.02)
        try:
            if _in_keyring() is None:
                _keep_in_keyring(key)
        finally:
            lock.release()

    def _in_file(self) -> bytes | None:
        try:
            return read_regular(self.data / FILE, _KEY_LIMIT).strip()
        except FileNotFoundError:
            return None
        except OSError:
            raise SecretKeyUnavailable(f"{FILE} in the data folder cannot be read.", "Check its permissions.") from None


@lru_cache(maxsize=16)
def cipher_of(key: bytes) -> Fernet:
    """The cipher of a key.

    Raises:
        SecretKeyUnavailable: it is no key.
    """
    from cryptography.fernet import Fernet

    try:
        return Fernet(key)
    except ValueError:
        raise SecretKeyUnavailable("The secret key is damaged.", f"Restore {FILE} in the data folder.") from None


@lru_cache(maxsize=4)
def _derived(text: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    if len(text) < SHORTEST:
        fix = f"Set it to {SHORTEST} or more random characters, such as those of `openssl rand -base64 32`."
        raise SecretKeyUnavailable(f"{VARIABLE} is too short.", fix)
    return base64.urlsafe_b64encode(HKDF(SHA256(), 32, None, _INFO).derive(text.encode("utf-8", "surrogateescape")))


_OTHER_STORE: Final = f"Unlock or set up the keyring, or unset {STORE_VARIABLE}."


def _in_keyring() -> bytes | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        fix = f"Install wirewright[keyring], or unset {STORE_VARIABLE}."
        raise SecretKeyUnavailable("The system's keyring needs the extra `keyring`.", fix) from None
    try:
        found = keyring.get_password(KEYRING_SERVICE, KEYRING_NAME)
    except KeyringError:
        raise SecretKeyUnavailable("The system's keyring cannot be used.", _OTHER_STORE) from None
    return None if found is None else found.encode("utf-8")


def _keep_in_keyring(key: bytes) -> None:
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(KEYRING_SERVICE, KEYRING_NAME, key.decode("ascii"))
    except KeyringError:
        raise SecretKeyUnavailable("The system's keyring cannot be used.", _OTHER_STORE) from None


@lru_cache(maxsize=16)
def _opens(cipher: Fernet, sealed: bytes) -> bool:
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(sealed) == _CHECK
    except InvalidToken:
        return False


def _another() -> SecretKeyUnavailable:
    return SecretKeyUnavailable(
        "The secret key is not the one that the stored keys were encrypted with.",
        f"Restore it: {VARIABLE}, the keyring's entry, or {FILE} in the data folder. To give up the keys that it "
        f"protects, and nothing else, remove {CHECK_FILE} there.",
    )


def _unwritable() -> SecretKeyUnavailable:
    return SecretKeyUnavailable("The secret key cannot be kept.", "Check the data folder and its permissions.")
