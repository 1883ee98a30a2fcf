"""The addresses of Langflow servers: an origin, and the path that a proxy may have put before it."""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urlsplit

from runtime.egress.addresses import read_address
from runtime.egress.outgoing import is_of_cloud
from runtime.langflow.errors import LangflowError

PORTS: Final = {"http": 80, "https": 443}
LONGEST: Final = 500
"""Characters of the longest address."""
_FIX: Final = "Write it like https://langflow.example.org or http://127.0.0.1:7860."


def read_url(address: str) -> str:
    """The address of a Langflow server, written in one way: scheme, host, port if it is not the usual one, and path.

    Args:
        address: what the user gave.

    Raises:
        LangflowError: it is not such an address.
    """
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        raise _bad("This is not an address.") from None
    host = (parts.hostname or "").lower()
    if len(address) > LONGEST or parts.scheme not in PORTS or not _is_host(host):
        raise _bad("The address of a Langflow server has http or https, and a host.")
    if parts.username is not None or parts.password is not None:
        raise _bad("The address must not contain a user or a password.")
    if parts.query or parts.fragment or not _is_path(parts):
        raise _bad("The address must not contain a query or a fragment.")
    found = read_address(host)
    if found is not None and is_of_cloud(found):
        raise refused_address(host)
    named = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/api/v1").rstrip("/")
    return f"{parts.scheme}://{named}{'' if port in (None, PORTS[parts.scheme]) else f':{port}'}{path}"


def refused_address(host: str) -> LangflowError:
    """The error for a host at an address where clouds have services of their own."""
    return LangflowError("address_refused", f"{host} is a link-local address, where no Langflow is.", _FIX)


def is_protected(url: str) -> bool:
    """Whether nobody on the way can read what is sent: over TLS, or on this machine."""
    parts = urlsplit(url)
    found = read_address(parts.hostname or "")
    return parts.scheme == "https" or parts.hostname == "localhost" or (found is not None and found.is_loopback)


def _is_host(host: str) -> bool:
    return bool(host) and host.isprintable() and not any(one.isspace() or one in "\\%<>\"'`" for one in host)


def _is_path(parts: SplitResult) -> bool:
    return parts.path.isascii() and parts.path.isprintable() and " " not in parts.path and ".." not in parts.path


def _bad(message: str) -> LangflowError:
    return LangflowError("bad_address", message, _FIX)
