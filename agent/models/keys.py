"""Stored keys of model providers: encrypted at rest, never returned, and preferred to those of the environment."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from agent.errors import AssistantUnavailable
from agent.models.providers import PROVIDERS, ProviderInfo
from agent.turn.result import TurnError
from runtime.files.atomic import write_atomically
from runtime.keychain.sealing import Sealing, Unreadable
from runtime.keychain.user_variables import UserVariables

KEY_FILE: Final = "providers.key"
STORE_FILE: Final = "providers.enc"
VALUE_LIMIT: Final = 4_096
"""The maximum length of a value in characters."""

PROVIDER_VARIABLES: Final = frozenset(name for info in PROVIDERS.values() for name in info.variables)
"""The variables that providers of models read."""

_ADDRESS_ENDS = ("_BASE_URL", "_ENDPOINT", "_RUNTIME")


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


class KeysUnreadable(AssistantUnavailable):
    """The stored keys cannot be read or written."""

    def __init__(self) -> None:
        super().__init__(
            TurnError(
                code="keys_unreadable",
                message="The stored provider keys cannot be used.",
                fix=f"Restore {KEY_FILE} and {STORE_FILE} in the data folder, or remove both and store the keys again.",
            )
        )


class ProviderKeys:
    """The stored keys of one installation. Every method may raise `KeysUnreadable`, and blocks for a moment.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._sealing = Sealing(data / KEY_FILE)
        self._read: tuple[object, dict[str, dict[str, str]]] | None = None

    def environment(self, base: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """Return the environment variables, overridden by the stored ones.

        Args:
            base: the environment variables; None uses the process's own.
        """
        values = dict(os.environ if base is None else base)
        for stored in self._stored().values():
            values.update(stored)
        return values

    def stored(self, provider: str) -> frozenset[str]:
        """Return the names of the variables stored for a provider."""
        return frozenset(self._stored().get(provider, {}))

    def store(self, provider: str, values: Mapping[str, str]) -> None:
        """Store values for a provider, replacing all values stored for it.

        Args:
            provider: a name of `PROVIDERS`.
            values: the values by variable; the provider must read each variable.

        Raises:
            BadKey: a value cannot be used.
        """
        checked = {name: _checked(PROVIDERS[provider], name, value) for name, value in values.items()}
        self._write({**self._stored(), provider: checked})

    def forget(self, provider: str) -> bool:
        """Delete the values stored for a provider; returns whether there were any."""
        kept = dict(self._stored())
        if kept.pop(provider, None) is None:
            return False
        self._write(kept)
        return True

    def _stored(self) -> dict[str, dict[str, str]]:
        path = self._data / STORE_FILE
        try:
            found = path.stat()
        except FileNotFoundError:
            return {}
        except OSError:
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
            write_atomically(self._data / STORE_FILE, self._sealing.seal(json.dumps(values)).encode("ascii"))
        except (OSError, Unreadable):
            raise KeysUnreadable from None
        self._read = None


def environment_of(data: Path, user: str) -> Callable[[], Mapping[str, str]]:
    """The environment variables of a user's flows: the installation's, and the user's own keys of providers.

    Args:
        data: the data folder.
        user: the user's id.
    """
    keys, own = ProviderKeys(data), UserVariables(data, user)

    def values() -> Mapping[str, str]:
        mine = own.values()
        return {**keys.environment(), **{name: mine[name] for name in mine if name in PROVIDER_VARIABLES}}

    return values


def _checked(info: ProviderInfo, name: str, value: str) -> str:
    if name not in info.variables:
        raise BadKey(name, f"{info.title} does not read {name}.", f"Send one of: {', '.join(info.variables)}.")
    value = value.strip()
    if not value or len(value) > VALUE_LIMIT or not value.isascii() or not value.isprintable():
        raise BadKey(name, f"{name} is empty, too long, or has invalid characters.", "Copy it again.")
    if name.endswith(_ADDRESS_ENDS) and not value.startswith(("http://", "https://")):
        raise BadKey(name, f"{name} is not an address.", "Send an address that begins with https:// or http://.")
    return value
