"""The outside as a run reaches it: by the proxy of its runner, which every HTTP client of the engine is pointed at.

`prepare` patches, once and before processes are forked, what passes environment variables by; `use_proxy` sets the
proxy of a forked run.
"""

import contextlib
import ipaddress
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import aiohttp
import httpx
import requests.adapters
from lfx.utils.ssrf_protection import SSRFProtectionError
from lfx.utils.ssrf_transport import SSRFProtectedSyncTransport, SSRFProtectedTransport

NO_NAMES = (
    "A run looks up no names, so {host} is reached only by the run's proxy, which this client does not use. The "
    "operator can name the host with its port: WIREWRIGHT_RUN_HOSTS={host}:PORT"
)
STATUS = "proxy-status"
"""The header by which the proxy says that an answer is its own (RFC 9209)."""
OURS = "wirewright;"
UNREACHABLE = 504
"""The status of hosts that do not answer; every other one is of hosts that are refused or not found."""
_TUNNEL = re.compile(r"(?:Tunnel connection failed: |^)(?P<status>4\d\d|50\d) (?P<message>The [^'\"\n]+\.)")

_proxy = ""
"""The proxy's address with the run's credentials, in a run that has one."""
_addresses: dict[str, str] = {}
_getaddrinfo = socket.getaddrinfo


def prepare() -> None:
    """Patch the clients that do not read the proxy from the environment, and let refusals be errors everywhere."""
    _patch_pinned(SSRFProtectedTransport, httpx.AsyncHTTPTransport)
    _patch_pinned(SSRFProtectedSyncTransport, httpx.HTTPTransport)
    _patch_httpx()
    _patch_requests()
    created = aiohttp.ClientSession.__init__

    def create(self: Any, *args: Any, **options: Any) -> None:
        if _proxy:
            options["trust_env"] = True
        created(self, *args, **options)

    aiohttp.ClientSession.__init__ = create


def use_proxy(url: str, addresses: Mapping[str, str], gateway: str | None) -> None:
    """Send what this process sends to other hosts to a proxy.

    Args:
        url: its address, with the run's credentials.
        addresses: addresses of the hosts that this process may connect to itself, by name.
        gateway: the base URL of the model gateway, which is not behind the proxy.
    """
    global _proxy
    _proxy = url
    _addresses.update(addresses)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = url
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "" if gateway is None else gateway.removesuffix("/v1")
    # lfx would look up every host, and connect to what it finds: the proxy does both, for this run's policy.
    os.environ["LANGFLOW_SSRF_PROTECTION_ENABLED"] = "false"
    socket.getaddrinfo = _known_addresses


def _known_addresses(host: Any, port: Any, *args: Any, **options: Any) -> Any:
    """`socket.getaddrinfo` for addresses and the hosts that are known; this process can ask nobody for others."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is None or name == "localhost" or _is_address(name):
        return _getaddrinfo(host, port, *args, **options)
    if known := _addresses.get(name.lower().rstrip(".")):
        return _getaddrinfo(known, port, *args, **options)
    raise socket.gaierror(socket.EAI_FAIL, NO_NAMES.format(host=name))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _patch_pinned(kind: Any, plain: Any) -> None:
    """Have a transport that connects to addresses of its own use the proxy, which resolves names once as well."""
    pinned = kind.__init__

    def create(self: Any, pinned_ips: dict[str, list[str]], *args: Any, **options: Any) -> None:
        if not _proxy:
            pinned(self, pinned_ips, *args, **options)
            return
        options.pop("fail_closed", None)
        plain.__init__(self, *args, **{**options, "proxy": _proxy})
        self.pinned_ips = pinned_ips

    kind.__init__ = create


def _patch_httpx() -> None:
    sync, later = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request

    def handle(self: Any, request: httpx.Request) -> httpx.Response:
        with _failures(httpx.ProxyError, httpx.ConnectError):
            response = sync(self, request)
        _raise_for(response.status_code, response.headers, httpx.ConnectError)
        return response

    async def handle_async(self: Any, request: httpx.Request) -> httpx.Response:
        with _failures(httpx.ProxyError, httpx.ConnectError):
            response = await later(self, request)
        _raise_for(response.status_code, response.headers, httpx.ConnectError)
        return response

    httpx.HTTPTransport.handle_request = handle
    httpx.AsyncHTTPTransport.handle_async_request = handle_async


def _patch_requests() -> None:
    sent = requests.adapters.HTTPAdapter.send

    def send(self: Any, *args: Any, **options: Any) -> requests.Response:
        with _failures(requests.exceptions.ProxyError, requests.exceptions.ConnectionError):
            response = sent(self, *args, **options)
        _raise_for(response.status_code, response.headers, requests.exceptions.ConnectionError)
        return response

    requests.adapters.HTTPAdapter.send = send


@contextlib.contextmanager
def _failures(failed: type[Exception], unreachable: Callable[[str], Exception]) -> Iterator[None]:
    """Say what became of a tunnel in the proxy's own words, which clients wrap in theirs."""
    try:
        yield
    except failed as error:
        if _proxy and (found := _TUNNEL.search(str(error))):
            raise _error(int(found["status"]), found["message"], unreachable) from error
        raise


def _raise_for(status: int, headers: Mapping[str, str], unreachable: Callable[[str], Exception]) -> None:
    """Raise for an answer that is the proxy's own: a host that was refused, or that cannot be reached."""
    own = headers.get(STATUS, "") if _proxy else ""
    if own.startswith(OURS):
        raise _error(status, own.partition('details="')[2].rstrip('"').replace('\\"', '"'), unreachable)


def _error(status: int, message: str, unreachable: Callable[[str], Exception]) -> Exception:
    """What lfx raises itself for a host that it refuses or cannot find; `unreachable` for one that does not answer."""
    return unreachable(message) if status == UNREACHABLE else SSRFProtectionError(message)
