"""What a user keeps secret in the database: read as it is now, whichever process changed it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import TypeAdapter

from runtime.database.database import Database

if TYPE_CHECKING:
    from runtime.database.secrets.rows import SecretRows

Variables: TypeAlias = Mapping[str, str]
Providers: TypeAlias = Mapping[str, Mapping[str, str]]

_VARIABLES: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
_PROVIDERS: TypeAdapter[dict[str, dict[str, str]]] = TypeAdapter(dict[str, dict[str, str]])


USERS: Final = 1_000
"""Users whose decrypted secrets are in memory."""


@dataclass(frozen=True)
class KeptSecrets:
    """What a user keeps, as it was when it was read.

    Attributes:
        variables: the values of variables, by name.
        providers: the values for providers of models, by provider and variable.
    """

    variables: Variables = field(default_factory=dict[str, str], repr=False)
    providers: Providers = field(default_factory=dict[str, Mapping[str, str]], repr=False)

    def with_variables(self, values: Variables) -> KeptSecrets:
        """The same with other variables, which the user has just kept."""
        return replace(self, variables={**self.variables, **values})


_DECRYPTED: WeakKeyDictionary[Database, dict[str, tuple[Mapping[str, str], KeptSecrets]]] = WeakKeyDictionary()
"""What was decrypted last of each user, with the rows that it was read from."""


class UserSecrets:
    """What one user keeps. Every method may raise `StoreUnavailable`, and `SecretKeyUnavailable` without the key.

    Args:
        database: where it is stored.
        user: the user's id.
    """

    def __init__(self, database: Database, user: str) -> None:
        self._database = database
        self._user = user

    async def read(self) -> KeptSecrets:
        """What is kept now: rows are read each time, so that a change by another server counts, and decrypted once."""
        if self._database.is_missing:
            return KeptSecrets()
        found = self._database.peek(self._user)
        if found is None:
            found = await (await self._rows()).of(self._user)
        if not found:
            return KeptSecrets()
        decrypted = _DECRYPTED.setdefault(self._database, {})
        last = decrypted.get(self._user)
        if last is None or last[0] != found:
            last = decrypted[self._user] = (found, await asyncio.to_thread(self._opened, found))
            if len(decrypted) > USERS:
                del decrypted[next(iter(decrypted))]
        return last[1]

    async def change_variables(self, change: Callable[[dict[str, str]], None]) -> None:
        """Change the variables, by one writer at a time; nothing changes when `change` raises."""

        def changed(stored: str | None) -> str | None:
            values = dict(_variables(self._text(stored)))
            change(values)
            return self._sealed(values, stored)

        await (await self._rows()).change(self._user, "variables", changed)

    async def change_providers(self, change: Callable[[dict[str, Mapping[str, str]]], None]) -> None:
        """Change the values for providers, by one writer at a time; nothing changes when `change` raises."""

        def changed(stored: str | None) -> str | None:
            values = dict(_providers(self._text(stored)))
            change(values)
            return self._sealed(values, stored)

        await (await self._rows()).change(self._user, "providers", changed)

    def _opened(self, found: Mapping[str, str]) -> KeptSecrets:
        return KeptSecrets(
            _variables(self._text(found.get("variables"))), _providers(self._text(found.get("providers")))
        )

    def _text(self, document: str | None) -> str:
        return "{}" if document is None else self._database.documents.unseal_text(document)

    def _sealed(self, values: Mapping[str, object], stored: str | None) -> str | None:
        """The encrypted values; the stored document when they are the same, and None when there are none."""
        if not values:
            return None
        text = json.dumps(values, separators=(",", ":"))
        if stored is not None and json.loads(self._text(stored)) == values:
            return stored
        return self._database.documents.seal_text(text)

    async def _rows(self) -> SecretRows:
        await self._database.open()
        from runtime.database.secrets.rows import SecretRows

        return SecretRows(self._database)


def _variables(text: str) -> Variables:
    return _VARIABLES.validate_json(text)


def _providers(text: str) -> Providers:
    return _PROVIDERS.validate_json(text)
