"""Stored keys of model providers: encrypted at rest, never returned, and preferred to those of the environment."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from agent.errors import AssistantUnavailable
from agent.models.providers import PROVIDERS, ProviderInfo
from agent.turn.result import TurnError
from runtime.files.atomic import write_atomically
from runtime.files.folders import LOCAL_USER, UserFolderError, private_folder, user_folder
from runtime.keychain.master_key import FILE, VARIABLE
from runtime.keychain.sealing import Sealing, Unreadable
from runtime.keychain.user_variables import UserVariables

EARLIER_KEY_FILE: Final = "providers.key"
"""The key of earlier versions."""
STORE_FILE: Final = "providers.enc"
"""The keys of the first user."""
FOLDER: Final = "providers"
"""The keys of the other users, a file each."""
VALUE_LIMIT: Final = 4_096
"""The maximum length of a value in characters."""

PROVIDER_VARIABLES: Final = frozenset(name for info in PROVIDERS.values() for name in info.variables)
"""The variables that providers of models read."""

_ADDRESS_ENDS = ("_BASE_URL", "_ENDPOINT", "_RUNTIME")
_KEY_ENDS = ("_API_KEY", "_BEDROCK", "_KEY_ID", "_ACCESS_KEY", "_SESSION_TOKEN")


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
    """The stored keys cannot be read or written."""

    def __init__(self) -> None:
        super().__init__(
            TurnError(
                code="keys_unreadable",
                message="The stored provider keys cannot be used.",
                fix=f"Restore the secret key ({VARIABLE}, the keyring's entry, or {FILE} in the data folder) and "
                f"{STORE_FILE} there, or remove {STORE_FILE} and store the keys again.",
            )
        )


class ProviderKeys:
    """The keys that one user has stored. Every method may raise `KeysUnreadable`, and blocks for a moment.

    Args:
        data: the data folder.
        user: the user's id.
    """

    def __init__(self, data: Path, user: str = LOCAL_USER) -> None:
        self._data = data
        self._user = user
        self._sealing = Sealing(data, EARLIER_KEY_FILE)
        self._read: tuple[object, dict[str, dict[str, str]]] | None = None

    def environment(self, base: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return the environment variables, overridden by the stored ones.

        Where an address is stored for a provider, the environment's keys of that provider are left out.

        Args:
            base: the environment variables; None uses the process's own.
        """
        stored = {name: value for values in self._stored().values() for name, value in values.items()}
        return overridden(os.environ if base is None else base, stored)

    def stored(self, provider: str) -> frozenset[str]:
        """Return the names of the variables stored for a provider."""
        return frozenset(self._stored().get(provider, {}))

    def values(self) -> dict[str, dict[str, str]]:
        """Return all stored values by provider and variable, such as for an export that the user has asked for."""
        return {provider: dict(values) for provider, values in self._stored().items()}

    def addresses(self) -> frozenset[str]:
        """Return the names of all variables with an address that are stored."""
        return frozenset(name for values in self._stored().values() for name in values if is_address(name))

    def store(self, provider: str, values: Mapping[str, str]) -> None:
        """Store values for a provider, replacing all values stored for it, and those that it shares with another one.

        Args:
            provider: a name of `PROVIDERS`.
            values: the values by variable; the provider must read each variable.

        Raises:
            BadKey: a value cannot be used.
            KeyNeeded: there is an address among them, and no key, which it needs or had before.
        """
        info, stored = PROVIDERS[provider], self._stored()
        checked = {name: _checked(info, name, value) for name, value in values.items()}
        previous = {name: value for each in stored.values() for name, value in each.items() if name in info.variables}
        _check_address(info, checked, previous)
        others = {
            each: {name: value for name, value in kept.items() if name not in info.variables}
            for each, kept in stored.items()
        }
        self._write({**{each: kept for each, kept in others.items() if kept}, provider: checked})

    def forget(self, provider: str) -> bool:
        """Delete the values stored for a provider; returns whether there were any."""
        kept = dict(self._stored())
        if kept.pop(provider, None) is None:
            return False
        self._write(kept)
        return True

    def _stored(self) -> dict[str, dict[str, str]]:
        try:
            path = self._path()
            found = path.stat()
        except FileNotFoundError:
            return {}
        except (OSError, UserFolderError):
            raise KeysUnreadable from None
        version = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._read is None or self._read[0] != version:
            try:
                self._read = (version, json.loads(self._sealing.unseal(path.read_text("ascii"))))
            except (OSError, ValueError, Unreadable):
                raise KeysUnreadable from None
        return self._read[1]

    def _write(self, values: dict[str, dict[str, str]]) -> None:
        try:
            write_atomically(self._path(), self._sealing.seal(json.dumps(values)).encode("ascii"))
        except (OSError, Unreadable, UserFolderError):
            raise KeysUnreadable from None
        self._read = None

    def _path(self) -> Path:
        """The file of the user: the first user's is older than the other users."""
        if self._user == LOCAL_USER:
            return self._data / STORE_FILE
        return private_folder(self._data / FOLDER) / f"{user_folder(self._data, self._user).name}.enc"


def environment_of(data: Path, user: str) -> Callable[[], Mapping[str, str]]:
    """The environment variables of a user's flows: the process's own, and the user's keys of providers.

    A key of the user's own is left out where an address is stored for its provider, which it was not given for.

    Args:
        data: the data folder.
        user: the user's id.
    """
    keys, own = ProviderKeys(data, user), UserVariables(data, user)

    def values() -> Mapping[str, str]:
        mine = {name: value for name, value in own.values().items() if name in PROVIDER_VARIABLES}
        elsewhere = _keys_at(keys.addresses() - mine.keys())
        return overridden(keys.environment(), {name: mine[name] for name in mine if name not in elsewhere})

    return values


def overridden(base: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Variables with others over them; a key of the lower ones never goes to an address of the upper ones.

    Args:
        base: the lower variables.
        values: the upper ones.
    """
    withheld = _keys_at(name for name in values if is_address(name))
    return {**{name: value for name, value in base.items() if name not in withheld}, **values}


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


def is_address(name: str) -> bool:
    """Whether a variable of a provider holds its address."""
    return name.endswith(_ADDRESS_ENDS)


def is_key(name: str) -> bool:
    """Whether a variable of a provider holds a key."""
    return name.endswith(_KEY_ENDS)


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
    if name.endswith(_ADDRESS_ENDS) and not value.startswith(("http://", "https://")):
        raise BadKey(name, f"{name} is not an address.", "Send an address that begins with https:// or http://.")
    return value
