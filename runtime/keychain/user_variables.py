"""The variables that a user keeps: encrypted at rest, listed by name, and never returned to a client or a model."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runtime.database.errors import StoreUnavailable
from runtime.files.atomic import write_atomically
from runtime.files.folders import UserFolderError, private_folder, user_folder
from runtime.files.lock import FileLock
from runtime.keychain.master_key import FILE, VARIABLE
from runtime.keychain.sealing import Sealing, Unreadable, seal_values, unseal_values

FOLDER: Final = "variables"
EARLIER_KEY_FILE: Final = "variables.key"
"""The key of earlier versions."""
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
"""What a variable may be called."""
VALUE_LIMIT: Final = 8_192
"""Characters of the longest value."""
MOST: Final = 200
"""How many variables a user may have."""
LOCK_SECONDS: Final = 10.0

_writing = threading.Lock()


class BadVariable(ValueError):
    """A variable that cannot be stored; the texts do not hold its value.

    Attributes:
        message: what is wrong.
        fix: what to send instead.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class VariablesUnavailable(StoreUnavailable):
    """The stored variables cannot be read or written."""

    def __init__(self) -> None:
        super().__init__(
            "The stored variables cannot be used.",
            f"Restore the secret key ({VARIABLE}, the keyring's entry, or {FILE} in the data folder) and {FOLDER}/ "
            f"there, or remove {FOLDER}/ and store the variables again.",
        )


class UserVariables:
    """The variables of one user. Every method may raise `VariablesUnavailable`, and blocks: call it in a thread.

    Args:
        data: the data folder.
        user: the user's id.
    """

    def __init__(self, data: Path, user: str) -> None:
        self._data = data
        self._user = user
        self.sealing = Sealing(data, EARLIER_KEY_FILE)

    def names(self) -> list[str]:
        """The names of all variables, sorted."""
        return sorted(self.values())

    def get(self, name: str) -> str | None:
        """The value of a variable; None if there is none."""
        return self.values().get(name)

    def values(self) -> Mapping[str, str]:
        """The values of all variables, by name."""
        if not (self._data / FOLDER).exists():
            return {}
        with _failures():
            path = self._path()
            return unseal_values(self.sealing, path.read_text("ascii")) if path.exists() else {}

    def keep(self, values: Mapping[str, str]) -> None:
        """Store variables; those of the same name are replaced.

        Raises:
            BadVariable: a name or a value cannot be stored.
        """
        for name, value in values.items():
            _check(name, value)
        with self._changing() as stored:
            if len({*stored, *values}) > MOST:
                raise BadVariable(f"There are more than {MOST} variables.", "Remove some that no flow needs.")
            stored.update(values)

    def forget(self, name: str) -> bool:
        """Delete a variable; returns whether there was one."""
        with self._changing() as stored:
            return stored.pop(name, None) is not None

    @contextmanager
    def _changing(self) -> Generator[dict[str, str]]:
        """The stored values, to be changed by one writer at a time."""
        with _writing, _failures():
            path = self._path()
            lock = FileLock(path.with_suffix(".lock"))
            deadline = time.monotonic() + LOCK_SECONDS
            while not lock.try_acquire():
                if time.monotonic() > deadline:
                    raise Unreadable
                time.sleep(0.02)
            try:
                stored = dict(self.values())
                before = dict(stored)
                yield stored
                if stored != before:
                    write_atomically(path, seal_values(self.sealing, stored).encode("ascii"))
            finally:
                lock.release()

    def _path(self) -> Path:
        name = user_folder(self._data, self._user).name
        return private_folder(self._data / FOLDER) / f"{name}.enc"


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except (OSError, Unreadable, UserFolderError) as failure:
        raise VariablesUnavailable from failure


def _check(name: str, value: str) -> None:
    if NAME.fullmatch(name) is None:
        message = f"{name[:80]!r} is not the name of a variable."
        raise BadVariable(message, "Use letters, digits and underscores, such as SERPAPI_API_KEY.")
    if not value.strip() or len(value) > VALUE_LIMIT or not value.isprintable():
        raise BadVariable(f"The value of {name} is empty, too long, or has invalid characters.", "Copy it again.")
