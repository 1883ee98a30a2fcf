"""The variables that a user keeps: encrypted at rest, listed by name, and never returned to a client or a model."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.keychain.master_key import FILE, VARIABLE, SecretKeyUnavailable
from runtime.keychain.user_secrets import UserSecrets

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
"""What a variable may be called."""
VALUE_LIMIT: Final = 8_192
"""Characters of the longest value."""
MOST: Final = 200
"""How many variables a user may have."""


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
    """The stored variables were encrypted with a key that is not here."""

    def __init__(self) -> None:
        super().__init__(
            "The stored variables cannot be used.",
            f"Restore the secret key: {VARIABLE}, the keyring's entry, or {FILE} in the data folder. To give them up, "
            "delete the user's rows of the table `secrets`, and store the variables again.",
        )


class UserVariables:
    """The variables of one user. Every method may raise `StoreUnavailable`, or `VariablesUnavailable` without the key.

    Args:
        database: where they are stored.
        user: the user's id.
    """

    def __init__(self, database: Database, user: str) -> None:
        self._secrets = UserSecrets(database, user)

    async def names(self) -> list[str]:
        """The names of all variables, sorted."""
        return sorted(await self.values())

    async def get(self, name: str) -> str | None:
        """The value of a variable; None if there is none."""
        return (await self.values()).get(name)

    async def values(self) -> Mapping[str, str]:
        """The values of all variables, by name."""
        with _failures():
            return (await self._secrets.read()).variables

    async def keep(self, values: Mapping[str, str]) -> None:
        """Store variables; those of the same name are replaced.

        Raises:
            BadVariable: a name or a value cannot be stored.
        """
        for name, value in values.items():
            _check(name, value)

        def add(stored: dict[str, str]) -> None:
            if len({*stored, *values}) > MOST:
                raise BadVariable(f"There are more than {MOST} variables.", "Remove some that no flow needs.")
            stored.update(values)

        with _failures():
            await self._secrets.change_variables(add)

    async def forget(self, name: str) -> bool:
        """Delete a variable; returns whether there was one."""
        found: list[str | None] = []
        with _failures():
            await self._secrets.change_variables(lambda stored: found.append(stored.pop(name, None)))
        return found != [None]


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except SecretKeyUnavailable as failure:
        raise VariablesUnavailable from failure


def _check(name: str, value: str) -> None:
    if NAME.fullmatch(name) is None:
        message = f"{name[:80]!r} is not the name of a variable."
        raise BadVariable(message, "Use letters, digits and underscores, such as SERPAPI_API_KEY.")
    if not value.strip() or len(value) > VALUE_LIMIT or not value.isprintable():
        raise BadVariable(f"The value of {name} is empty, too long, or has invalid characters.", "Copy it again.")
