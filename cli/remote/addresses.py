"""The addresses of servers: what `--server` and `login` take."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from cli.errors import BadUsage

PORTS = {"http": 80, "https": 443}
_FIX = "Write it like https://flows.example.org or http://127.0.0.1:7878."


def origin_of(address: str, where: str = "--server") -> str:
    """The origin that an address names: scheme, host and port, written in one way.

    Args:
        address: what the user typed.
        where: the argument that names it.

    Raises:
        BadUsage: it is not the address of a server.
    """
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        raise _bad("This is not an address.", where) from None
    host = (parts.hostname or "").lower()
    if parts.scheme not in PORTS or not host or not _is_host(host):
        raise _bad("The address of a server has http or https, and a host.", where)
    if parts.username is not None or parts.password is not None:
        raise _bad("The address must not contain a user or a password.", where)
    if _has_more(parts):
        raise _bad("The address of a server has no path, query or fragment.", where)
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{'' if port in (None, PORTS[parts.scheme]) else f':{port}'}"


def is_protected(origin: str) -> bool:
    """Whether nobody on the way can read what is sent: over TLS, or on this machine."""
    parts = urlsplit(origin)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_host(host: str) -> bool:
    return host.isprintable() and not any(letter.isspace() or letter in "\\%<>\"'`" for letter in host)


def _has_more(parts: SplitResult) -> bool:
    return parts.path not in ("", "/") or bool(parts.query or parts.fragment)


def _bad(message: str, where: str) -> BadUsage:
    return BadUsage("bad_address", message, fix=_FIX, where=where)
