"""The addresses of Langflow servers: an origin, and the path that a proxy may have put before it."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import SplitResult, urlsplit

from runtime.egress.addresses import read_address
from runtime.langflow.errors import LangflowError

PORTS: Final = {"http": 80, "https": 443}
LONGEST: Final = 500
"""Characters of the longest address."""
_FIX: Final = "Write it like https://langflow.example.org or http://127.0.0.1:7860."
_METADATA: Final = (ipaddress.ip_address("168.63.129.16"), ipaddress.ip_address("fd00:ec2::254"))
"""Services of a cloud's own, which are no Langflow; those at link-local addresses are refused with all of these."""


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
    if found is not None and (found.is_link_local or found in _METADATA):
        raise LangflowError("address_refused", f"{host} is a link-local address, where no Langflow is.", _FIX)
    named = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/api/v1").rstrip("/")
    return f"{parts.scheme}://{named}{'' if port in (None, PORTS[parts.scheme]) else f':{port}'}{path}"


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
