"""Stored keys of model providers: encrypted at rest, never returned, and preferred to those of the environment."""

import os
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from agent.errors import AssistantUnavailable
from agent.models.providers import (
    FOLDER_VARIABLES,
    PROVIDERS,
    ModelChoice,
    ProviderInfo,
    folder_variables,
    is_address,
    is_key,
)
from agent.turn.result import TurnError
from runtime.database.database import Database
from runtime.egress.addresses import carried, read_address
from runtime.egress.outgoing import is_of_cloud
from runtime.files.folders import LOCAL_USER
from runtime.keychain.master_key import FILE, VARIABLE, SecretKeyUnavailable
from runtime.keychain.user_secrets import KeptSecrets, Providers, UserSecrets

VALUE_LIMIT: Final = 4_096
"""The maximum length of a value in characters."""

PROVIDER_VARIABLES: Final = frozenset(name for info in PROVIDERS.values() for name in info.variables)
"""The variables that providers of models read."""


class BadKey(ValueError):
    """A value that cannot be stored.

    Attributes:
        variable: its environment variable.
        message: what is wrong with it, without the value.
        fix: what to send instead.
    """

    def __init__(self, variable: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.variable = variable
        self.message = message
        self.fix = fix


class KeyNeeded(BadKey):
    """A new address came without the key that it is to get: a key goes only to the address that it was given for."""


class KeysUnreadable(AssistantUnavailable):
    """The stored keys were encrypted with a key that is not here."""

    def __init__(self) -> None:
        super().__init__(
            TurnError(
                code="keys_unreadable",
                message="The stored provider keys cannot be used.",
                fix=f"Restore the secret key: {VARIABLE}, the keyring's entry, or {FILE} in the data folder. To give "
                "them up, delete the user's rows of the table `secrets`, and store the keys again.",
            )
        )


@dataclass(frozen=True)
class KeptKeys:
    """The keys of a user as they were when they were read: those of providers, and those among the variables.

    Attributes:
        kept: what the user keeps.
    """

    kept: KeptSecrets = field(default_factory=KeptSecrets, repr=False)

    @classmethod
    def of(cls, choice: ModelChoice) -> "KeptKeys":
        """Return the keys with which the models of a turn were chosen."""
        return cls(choice.secrets or KeptSecrets())

    @property
    def is_empty(self) -> bool:
        """Whether the user's models are those of the environment alone."""
        return not (self.kept.providers or PROVIDER_VARIABLES.intersection(self.kept.variables))

    def environment(self, base: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return the environment variables, overridden by the stored ones.

        Where an address is stored for a provider, the environment's keys of that provider are left out.

        Args:
            base: the environment variables; None uses the process's own.
        """
        stored = {name: value for values in self.kept.providers.values() for name, value in values.items()}
        lower = os.environ if base is None else base
        if not stored and FOLDER_VARIABLES not in lower:
            return lower
        return overridden(lower, stored)

    def flow_environment(self) -> Mapping[str, str]:
        """Return the environment variables of the user's flows: the process's own, and the user's keys of providers.

        A key among the variables is left out where an address is stored for its provider, which it was not given for.
        """
        mine = {name: value for name, value in self.kept.variables.items() if name in PROVIDER_VARIABLES}
        elsewhere = _keys_at(self.addresses() - mine.keys())
        return overridden(self.environment(), {name: mine[name] for name in mine if name not in elsewhere})

    def stored(self, provider: str) -> frozenset[str]:
        """Return the names of the variables stored for a provider."""
        return frozenset(self.kept.providers.get(provider, {}))

    def addresses(self) -> frozenset[str]:
        """Return the names of all variables with an address that are stored."""
        return frozenset(name for values in self.kept.providers.values() for name in values if is_address(name))


class ProviderKeys:
    """The keys that one user has stored. Every method may raise `KeysUnreadable` and `StoreUnavailable`.

    Args:
        database: where they are stored.
        user: the user's id.
    """

    def __init__(self, database: Database, user: str = LOCAL_USER) -> None:
        self._secrets = UserSecrets(database, user)

    async def read(self) -> KeptKeys:
        """Return the keys as they are stored now, whichever process or server has stored them."""
        with _failures():
            return KeptKeys(await self._secrets.read())

    async def values(self) -> Providers:
        """Return all stored values by provider and variable, such as for an export that the user has asked for."""
        return (await self.read()).kept.providers

    async def store(self, provider: str, values: Mapping[str, str]) -> None:
        """Store values for a provider, replacing all values stored for it, and those that it shares with another one.

        Args:
            provider: a name of `PROVIDERS`.
            values: the values by variable; the provider must read each variable.

        Raises:
            BadKey: a value cannot be used.
            KeyNeeded: there is an address among them, and no key, which it needs or had before.
        """
        info = PROVIDERS[provider]
        checked = {name: _checked(info, name, value) for name, value in values.items()}

        def add(stored: dict[str, Mapping[str, str]]) -> None:
            each = [one.items() for one in stored.values()]
            previous = {name: value for one in each for name, value in one if name in info.variables}
            _check_address(info, checked, previous)
            for other, kept in list(stored.items()):
                stored[other] = {name: value for name, value in kept.items() if name not in info.variables}
                if not stored[other]:
                    del stored[other]
            stored[provider] = checked

        with _failures():
            await self._secrets.change_providers(add)

    async def forget(self, provider: str) -> bool:
        """Delete the values stored for a provider; returns whether there were any."""
        found: list[Mapping[str, str] | None] = []
        with _failures():
            await self._secrets.change_providers(lambda stored: found.append(stored.pop(provider, None)))
        return found != [None]


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except SecretKeyUnavailable as failure:
        raise KeysUnreadable from failure


def overridden(base: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Variables with others over them; a key of the lower ones never goes to an address of the upper ones.

    Nor does a key of the upper ones go to an address that the `.env` file of a folder names.

    Args:
        base: the lower variables.
        values: the upper ones.
    """
    of_folder = folder_variables(base) - values.keys()
    withheld = _keys_at(name for name in values if is_address(name))
    withheld |= {name for name in of_folder if is_address(name) and not values.keys().isdisjoint(_keys_at([name]))}
    named = {FOLDER_VARIABLES: ",".join(sorted(of_folder))} if FOLDER_VARIABLES in base else {}
    return {**{name: value for name, value in base.items() if name not in withheld}, **values, **named}


def _keys_at(addresses: Iterable[str]) -> set[str]:
    """The variables with keys that providers would send to some addresses, by the addresses' variables."""
    readers = [info for name in addresses for info in PROVIDERS.values() if name in info.variables]
    return {name for info in readers for name in info.variables if is_key(name)}


def key_for_address(name: str, kept: Collection[str]) -> str | None:
    """The kept key that would go to an address which is stored under this name; None if there is none.

    Args:
        name: a variable.
        kept: the variables that are kept.
    """
    readers = (info for info in PROVIDERS.values() if is_address(name) and name in info.variables)
    return next((key for info in readers for key in info.variables if is_key(key) and key in kept), None)


def _check_address(info: ProviderInfo, values: Mapping[str, str], had: Mapping[str, str]) -> None:
    address = next((name for name in values if is_address(name)), None)
    if address is None or any(is_key(name) for name in values):
        return
    had_key = any(is_key(name) for name in had)
    needs_key = all(any(is_key(name) for name in names) for names in info.variable_sets)
    if not had_key and not needs_key:
        return
    fix = "Send the key in the same request." + (
        " If the address needs none, DELETE what is stored first." if had_key else ""
    )
    raise KeyNeeded(address, f"{address} needs the key that is to be sent there.", fix)


def _checked(info: ProviderInfo, name: str, value: str) -> str:
    if name not in info.variables:
        raise BadKey(name, f"{info.title} does not read {name}.", f"Send one of: {', '.join(info.variables)}.")
    value = value.strip()
    if not value or len(value) > VALUE_LIMIT or not value.isascii() or not value.isprintable():
        raise BadKey(name, f"{name} is empty, too long, or has invalid characters.", "Copy it again.")
    problem = _address_problem(value) if is_address(name) else None
    if problem is not None:
        raise BadKey(name, f"{name} {problem[0]}.", problem[1])
    return value


def _address_problem(text: str) -> tuple[str, str] | None:
    """What is wrong with a text as the address of a provider, and what to do; None if nothing is."""
    fix = "Send an address with https:// or http:// and a host, and the key apart from it."
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address", fix
    if " " in text or parts.scheme not in ("http", "https") or not host:
        return "is not an address", fix
    if parts.username is not None or parts.password is not None:
        return "has a user or a password in it", fix
    found = read_address(host)
    if found is None or not is_of_cloud(found):
        return None
    kind = "a link-local address" if (carried(found) or found).is_link_local else "an address of a cloud's own services"
    return (
        f"is {kind}, to which this server does not connect: machines in a cloud get credentials there",
        "Use another address of the machine on which the models run: that in its network, or 127.0.0.1 on this one.",
    )
