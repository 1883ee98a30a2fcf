"""The Langflow servers that a user has connected.

Each is one of the user's variables, which holds the address together with the key: neither can be changed without the
other, so a key is sent to the address that it was given for and to no other. Variables are encrypted, are listed by
name alone, and those whose names begin so enter no run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urlsplit

from runtime.langflow.addresses import is_protected, read_url
from runtime.langflow.errors import LangflowError

PREFIX: Final = "LANGFLOW_SERVER_"
"""What the variables begin with."""
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""What a connection may be called."""
_KEY: Final = re.compile(r"[\x21-\x7e]{8,1000}")


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A Langflow server, and the key that it takes.

    Attributes:
        name: what the user calls it.
        url: its address.
        key: the API key.
    """

    name: str
    url: str
    key: str = field(repr=False)


class Variables(Protocol):
    """The variables of a user."""

    async def values(self) -> Mapping[str, str]:
        """All of them by name."""
        ...

    async def keep(self, values: Mapping[str, str], /) -> None:
        """Store some; those of the same name are replaced."""
        ...

    async def forget(self, name: str, /) -> bool:
        """Delete one; returns whether there was one."""
        ...


class Connections:
    """The Langflow servers of one user. Every method may raise `StoreUnavailable`.

    Args:
        variables: the user's variables.
    """

    def __init__(self, variables: Variables) -> None:
        self._variables = variables

    async def all(self) -> list[Connection]:
        """The connections by name; what is no connection although it is called like one is left out."""
        kept = await self._variables.values()
        found = [
            (name.removeprefix(PREFIX).lower(), value.split(" "))
            for name, value in kept.items()
            if name.startswith(PREFIX)
        ]
        return sorted(
            (Connection(name=name, url=parts[0], key=parts[1]) for name, parts in found if len(parts) == 2),
            key=lambda one: one.name,
        )

    async def get(self, name: str | None = None) -> Connection:
        """The connection with a name; without a name the only one.

        Raises:
            LangflowError: there is none, or there are several and none was named.
        """
        known = await self.all()
        found = [one for one in known if name is None or one.name == name.strip().lower()]
        if len(found) == 1:
            return found[0]
        names = ", ".join(one.name for one in known)
        if not known:
            fix = "Connect one first: wirewright langflow connect URL"
            raise LangflowError("not_connected", "No Langflow server is connected.", fix)
        if name is None:
            raise LangflowError("connection_needed", "Several Langflow servers are connected.", f"Name one: {names}.")
        raise LangflowError("not_connected", f"No Langflow server is called {name[:40]!r}.", f"Name one of: {names}.")

    async def keep(self, name: str, url: str, key: str, *, insecure: bool = False) -> Connection:
        """Keep a connection; an earlier one of that name is replaced, with its key.

        Args:
            name: what it is called.
            url: its address.
            key: the key that is sent there.
            insecure: whether the key may be sent without TLS beyond this machine.

        Raises:
            LangflowError: one of them cannot be used, or others could read the key on the way.
            BadVariable: there are too many variables.
        """
        made = connection_of(name, url, key, insecure=insecure)
        await self._variables.keep({f"{PREFIX}{made.name.upper()}": f"{made.url} {made.key}"})
        return made

    async def forget(self, name: str) -> bool:
        """Remove a connection and its key; returns whether there was one."""
        known = NAME.fullmatch(name.lower()) is not None
        return known and await self._variables.forget(f"{PREFIX}{name.strip().upper()}")


def connection_of(name: str, url: str, key: str, *, insecure: bool = False) -> Connection:
    """A connection from what a user gave; as `Connections.keep`, which keeps it."""
    if NAME.fullmatch(name) is None:
        fix = "Use up to 40 small letters, digits and underscores, such as team."
        raise LangflowError("bad_name", f"{name[:40]!r} cannot be the name of a connection.", fix)
    key, url = key.strip(), read_url(url)
    if _KEY.fullmatch(key) is None:
        fix = "Create one in Langflow under Settings, Langflow API Keys, and copy it again."
        raise LangflowError("bad_key", "This is not an API key of Langflow.", fix)
    if not is_protected(url) and not insecure:
        fix = "Use https, or allow it: --insecure (over HTTP: `insecure`)."
        raise LangflowError("insecure_server", f"Everybody on the way to {url} could read the key.", fix)
    return Connection(name=name, url=url, key=key)


def suggested_name(url: str) -> str:
    """A name for the connection to an address, from its host."""
    host = urlsplit(url).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1"):
        return "local"
    plain = re.sub(r"[^a-z0-9]+", "_", host.lower()).strip("_")[:36]
    return plain if NAME.fullmatch(plain) else f"at_{plain}"
